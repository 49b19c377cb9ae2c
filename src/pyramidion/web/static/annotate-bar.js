// The bar at the top: undo and redo, whether all is saved, how the texts stand; and what comes up besides.

import { byId, el, put, setText } from "./manager-dom.js";
import { post } from "./manager-api.js";
import { say } from "./manager-live.js";
import { openDialog } from "./manager-dialog.js";

const LAYOUT = "pyramidion:annotate:layout";

export class Bar {
  constructor(work, { help }) {
    this.work = work;
    this.undo = byId("undo");
    this.redo = byId("redo");
    this.undo.addEventListener("click", () => work.undo());
    this.redo.addEventListener("click", () => work.redo());
    byId("help").addEventListener("click", help);
    work.addEventListener("saving", ({ detail }) => this.#saving(detail));
    this.#layout();
    this.#menu();
    if (!work.mayEdit) this.#readOnly();
  }

  update() {
    offer(this.undo, this.work.undoable, "Undo");
    offer(this.redo, this.work.redoable, "Redo");
  }

  #saving({ state, text }) {
    const line = byId("saving");
    clearTimeout(this.timer);
    // Saving is quick: it is worth a word only when it is not.
    if (state === "saving") {
      line.dataset.state = state;
      this.timer = setTimeout(() => setText(line.lastElementChild, text), 400);
      return;
    }
    line.dataset.state = state;
    setText(line.lastElementChild, text);
  }

  #readOnly() {
    document.documentElement.classList.add("a-readonly");
    byId("reading").hidden = false;
  }

  #layout() {
    const button = byId("layout");
    if (!button) return;
    const set = (stacked) => {
      byId("texts").classList.toggle("a-stacked", stacked);
      button.setAttribute("aria-pressed", String(stacked));
      try {
        localStorage.setItem(LAYOUT, stacked ? "stacked" : "side");
      } catch {
        // for this page only, then
      }
    };
    let kept = null;
    try {
      kept = localStorage.getItem(LAYOUT);
    } catch {
      // as it comes, then
    }
    set(kept === "stacked");
    button.addEventListener("click", () => set(button.getAttribute("aria-pressed") !== "true"));
  }

  /** Importing a file and putting the annotation into the study. */
  #menu() {
    const menu = byId("menu");
    document.addEventListener("click", (event) => !menu.contains(event.target) && (menu.open = false));
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    byId("store")?.addEventListener("click", () => this.#send("store", {}, () => "This is in the study now."));
    byId("import-file")?.addEventListener("change", async ({ target }) => {
      const [file] = target.files;
      if (!file) return;
      const body = { file_name: file.name, text: await file.text() };
      target.value = "";
      await this.#send("import", body, (reply) => {
        this.work.adopt(reply.state);
        return `${file.name} is imported.`;
      });
    });
  }

  async #send(what, body, done) {
    byId("menu").open = false;
    try {
      say(done(await post(`/api/annotate/${this.work.id}/${what}`, body)));
    } catch (error) {
      problem("This did not work", [error.message, ...error.problems.map((each) => `${each.where}: ${each.what}`)]);
    }
  }
}

function offer(button, what, verb) {
  button.setAttribute("aria-disabled", String(!what));
  button.title = what ? `${verb}: ${what}` : `Nothing to ${verb.toLowerCase()}`;
}

/** Something that has to be read before going on. */
export function problem(title, lines, ...more) {
  const paragraphs = lines.filter(Boolean).map((line) => el("p", {}, el("bdi", {}, line)));
  return openDialog({ title }, el("div", { class: "m-dialog-content", role: "alert" }, paragraphs, ...more));
}

/** A message that stays beside the work until it is read: what went wrong, what can be done. */
export function notice(tone, lines, buttons) {
  const box = el("div", { class: `notice ${tone} a-notice`, role: "alert" });
  const close = () => box.remove();
  put(
    box,
    lines.map((line) => el("p", {}, line)),
    el(
      "div",
      { class: "actions" },
      buttons.map(({ title, run }) =>
        el(
          "button",
          {
            type: "button",
            class: "button small",
            onclick: () => {
              close();
              run?.();
            },
          },
          title,
        ),
      ),
    ),
  );
  byId("notices").append(box);
  return box;
}
