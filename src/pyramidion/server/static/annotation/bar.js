// @ts-check
// The bar at the top: undo and redo, whether all is saved, how the texts are laid out, the menu; and what keys do.

import { ApiError, post } from "../shared/api.js";
import { openDialog, openProblem } from "../shared/dialog.js";
import { byId, el, setText } from "../shared/dom.js";
import { say, sentence } from "../shared/messages.js";
import { shortcuts } from "../shared/shortcuts.js";

/** @import { Work } from "./work.js" */

export class Bar {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Work} work @param {{ help: () => void, undo: () => void, redo: () => void }} hooks */
  constructor(work, { help, undo, redo }) {
    this.work = work;
    this.undo = byId("undo");
    this.redo = byId("redo");
    this.undo.addEventListener("click", undo);
    this.redo.addEventListener("click", redo);
    byId("help").addEventListener("click", help);
    this.menu = /** @type {HTMLDetailsElement} */ (byId("menu"));
    work.on("saving", (detail) => this.#saving(detail));
    for (const menu of document.querySelectorAll("details.a-menu")) closing(/** @type {HTMLDetailsElement} */ (menu));
    this.#startMenu();
    document.documentElement.classList.toggle("a-readonly", !work.mayEdit);
    byId("reading").hidden = work.mayEdit;
  }

  update() {
    offer(this.undo, this.work.undoable, "Undo");
    offer(this.redo, this.work.redoable, "Redo");
  }

  /** @param {{ state: string, text: string }} detail */
  #saving({ state, text }) {
    const line = byId("saving");
    const show = () => line.lastElementChild && setText(line.lastElementChild, text);
    clearTimeout(this.#timer);
    line.dataset.state = state;
    // Saving is quick: it is worth a word only when it is not.
    if (state === "saving") this.#timer = setTimeout(show, 400);
    else show();
  }

  /** Importing a file and putting the annotation into the study. */
  #startMenu() {
    const store = document.getElementById("store");
    const input = /** @type {HTMLInputElement | null} */ (document.getElementById("import-file"));
    store?.addEventListener("click", () => this.#send("store", {}, "This is in the study now."));
    input?.addEventListener("change", async () => {
      const file = input.files?.[0];
      if (!file) return;
      const body = { file_name: file.name, text: await file.text() };
      input.value = "";
      await this.#send("import", body, `${file.name} is imported.`);
    });
  }

  /** @param {string} what @param {object} body @param {string} done what to say then */
  async #send(what, body, done) {
    this.menu.open = false;
    try {
      const { state } = await post(`/api/annotate/${this.work.id}/${what}`, body);
      if (what === "import") this.work.adopt(state);
      say(done);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      openProblem("This did not work", [error.message, ...error.problems.map(sentence)]);
    }
  }
}

/** A menu closes when something else is clicked, or with Escape. @param {HTMLDetailsElement} menu */
function closing(menu) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(/** @type {Node} */ (event.target))) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}

/** @param {HTMLElement} button @param {string | null} what @param {string} verb */
function offer(button, what, verb) {
  button.setAttribute("aria-disabled", String(!what));
  button.title = what ? `${verb}: ${what}` : `Nothing to ${verb.toLowerCase()}`;
}

// -- what keys do, said once: the keys and the help come from the same list ----------------------------------

/**
 * @typedef {object} Action
 * @property {string} id
 * @property {string} key a letter, or named as in KeyboardEvent
 * @property {string} [also]
 * @property {string} [shown] how the help shows the key
 * @property {string} [where] a selector: only there
 * @property {string} group
 * @property {string} title
 * @property {() => unknown} run
 *
 * @typedef {{ title: string, keys: [key: string, text: string][] }} KeyGroup
 */

/**
 * Actions under one heading of the help.
 * @param {string} title @param {Omit<Action, "group">[]} actions @returns {Action[]}
 */
export const group = (title, actions) => actions.map((each) => ({ ...each, group: title }));

/** Keys that belong to the texts and the list; they are listed in the help only. @type {KeyGroup[]} */
const MOVING = [
  {
    title: "Pick words (in a text)",
    keys: [
      ["← →", "a word back or forward"],
      ["↑ ↓", "a line up or down"],
      ["Ctrl ← →", "a sentence back or forward"],
      ["Shift + these", "pick the words on the way"],
      ["Space", "keep what is picked and add further pieces; or pick this one word"],
      ["Shift Space", "pick the clause around the cursor"],
      ["Alt Shift ← →", "move the end by one character, for what words do not reach"],
      ["Esc", "drop what is picked"],
    ],
  },
  {
    title: "Pick words (mouse)",
    keys: [
      ["drag", "pick words"],
      ["double click", "pick the clause; a third click: the sentence"],
      ["Ctrl + drag", "add a piece, also in another text (⌘ and Alt do the same)"],
      ["Shift + click", "up to this word"],
      ["drag the pick", "onto a unit, or onto the field for new ones"],
    ],
  },
  {
    title: "In the list of units",
    keys: [
      ["↑ ↓", "to another unit"],
      ["→ ←", "show or hide its words"],
      ["Enter", "put what is picked into this unit; with nothing picked, go to its words"],
    ],
  },
];

/** @type {KeyGroup} */
const ALWAYS = {
  title: "Always",
  keys: [
    ["Ctrl Z", "undo"],
    ["Ctrl Shift Z, Ctrl Y", "redo"],
  ],
};

/**
 * The name of the key that an action would have, for a key that is pressed.
 * @param {Pick<KeyboardEvent, "key" | "code" | "altKey">} event
 */
export function keyName(event) {
  const letter = shortcuts.letter(event);
  if (event.altKey) return `Alt+${event.key}`;
  return letter.length === 1 ? letter : event.key;
}

export class Keys {
  /** @param {() => Action[]} actions @param {{ undo: () => void, redo: () => void }} history */
  constructor(actions, history) {
    this.actions = actions;
    document.addEventListener("keydown", (event) => this.#press(event, history));
  }

  /** @param {KeyboardEvent} event @param {{ undo: () => void, redo: () => void }} history */
  #press(event, { undo, redo }) {
    if (document.querySelector("dialog[open]")) return;
    const letter = shortcuts.letter(event);
    const target = /** @type {Element} */ (event.target);
    const typing = target.closest?.("input:not([type=checkbox]), textarea, select");
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !typing) {
      const run = letter === "z" ? (event.shiftKey ? redo : undo) : letter === "y" ? redo : null;
      if (run) {
        event.preventDefault();
        run();
      }
      return;
    }
    const wanted = keyName(event);
    const action = this.actions().find(({ key, also }) => key === wanted || also === wanted);
    if (!action || typing || event.defaultPrevented || event.isComposing) return;
    if (wanted.length === 1 && !shortcuts.takes(event)) return;
    if (action.where && !target.closest(action.where)) return;
    event.preventDefault();
    action.run();
  }

  help() {
    /** @type {Map<string, KeyGroup>} */
    const groups = new Map();
    for (const { group, shown, key, title } of this.actions()) {
      if (shown === "") continue; // one of a row that is listed once
      const keys = groups.get(group)?.keys ?? [];
      groups.set(group, { title: group, keys: [...keys, [shown ?? key.toUpperCase(), title]] });
    }
    const blocks = [...groups.values(), ALWAYS, ...MOVING].map(({ title, keys }) => {
      const rows = keys.map(([key, text]) => el("div", el("dt", keyCap(key)), el("dd", text)));
      return el("section", el("h3", title), el("dl.a-keys", rows));
    });
    openDialog({ title: "Keys", wide: true }, el("div.m-dialog-content", shortcuts.toggle(), el("div.a-help", blocks)));
  }
}

/** @param {string} text */
const keyCap = (text) => text.split(", ").map((part, i) => [i > 0 && " ", el("kbd", part)]);
