// What keys do, said once: the keys and the help come from the same list.

import { el } from "./manager-dom.js";
import { openDialog } from "./manager-dialog.js";
import { shortcuts } from "./worker-shortcuts.js";

/** Keys that belong to the texts and the list; they are listed in the help only. */
const MOVING = [
  {
    title: "Pick words (in a text)",
    keys: [
      ["← →", "a word back or forward"],
      ["↑ ↓", "a line up or down"],
      ["Ctrl ← →", "a sentence back or forward"],
      ["Shift + these", "pick the words on the way"],
      ["Space", "keep what is picked and add further pieces; or pick this one word"],
      ["Alt Shift ← →", "move the end by one character, for what words do not reach"],
      ["Esc", "drop what is picked"],
    ],
  },
  {
    title: "Pick words (mouse)",
    keys: [
      ["drag", "pick words"],
      ["Ctrl + drag", "add a piece, also in another text (⌘ and Alt do the same)"],
      ["Shift + click", "up to this word"],
      ["drag the pick", "onto a unit, or onto the field for new ones"],
    ],
  },
  {
    title: "In the list of units",
    keys: [
      ["↑ ↓", "to another unit"],
      ["Enter", "put what is picked into this unit; with nothing picked, go to its words"],
    ],
  },
];

/** actions: [{id, key, also?, shown?, where?, group, title, run}]; a key is a letter, or named as in KeyboardEvent. */
export class Keys {
  constructor(actions, history) {
    this.actions = actions;
    document.addEventListener("keydown", (event) => this.#press(event, history));
  }

  #press(event, { undo, redo }) {
    if (document.querySelector("dialog[open]")) return;
    const letter = shortcuts.letter(event);
    const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select");
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !typing) {
      const run = letter === "z" ? (event.shiftKey ? redo : undo) : letter === "y" ? redo : null;
      if (run) {
        event.preventDefault();
        run();
      }
      return;
    }
    const wanted = event.altKey ? `Alt+${event.key}` : letter.length === 1 ? letter : event.key;
    const action = this.actions.find(({ key, also }) => key === wanted || also === wanted);
    if (!action || typing || event.defaultPrevented || event.isComposing) return;
    if (wanted.length === 1 && !shortcuts.takes(event)) return;
    if (action.where && !event.target.closest(action.where)) return;
    event.preventDefault();
    action.run(event);
  }

  help() {
    const rows = (keys) => keys.map(([key, text]) => el("div", {}, el("dt", {}, keyCap(key)), el("dd", {}, text)));
    const groups = [...new Set(this.actions.map((action) => action.group))].map((group) => ({
      title: group,
      keys: this.actions.filter((action) => action.group === group).map((a) => [a.shown ?? a.key.toUpperCase(), a.title]),
    }));
    groups.push({
      title: "Always",
      keys: [
        ["Ctrl Z", "undo"],
        ["Ctrl Shift Z, Ctrl Y", "redo"],
      ],
    });
    const blocks = [...groups, ...MOVING].map(({ title, keys }) =>
      el("section", {}, el("h3", {}, title), el("dl", { class: "a-keys" }, rows(keys))),
    );
    openDialog(
      { title: "Keys", wide: true },
      el("div", { class: "m-dialog-content" }, shortcuts.toggle(), el("div", { class: "a-help" }, blocks)),
    );
  }
}

const keyCap = (text) => text.split(", ").map((part, i) => [i > 0 && " ", el("kbd", {}, part)]);
