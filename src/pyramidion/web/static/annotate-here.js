// The strip below the texts: what is picked and what can be done with it; which units use the words under the cursor.

import { byId, el, put, setText } from "./manager-dom.js";
import { quotation } from "./annotate-pick.js";

export class Here {
  #shown = "";

  constructor(editor) {
    this.editor = editor;
    this.quote = byId("picked");
    this.units = byId("units-here");
    this.buttons = [...byId("pick-actions").querySelectorAll("button")];
    for (const button of this.buttons) {
      button.addEventListener("mousedown", (event) => event.preventDefault()); // the text keeps the focus
      button.addEventListener("click", () => editor.actions().find(({ id }) => id === button.dataset.action).run());
    }
  }

  update() {
    const { pick, current, mayEdit } = this.editor;
    setText(this.quote, pick.empty ? "" : quotation(pick));
    this.quote.parentElement.classList.toggle("a-nothing", pick.empty);
    for (const button of this.buttons) {
      const needsUnit = button.hasAttribute("data-needs-unit");
      const off = !mayEdit || pick.empty || (needsUnit && current === null);
      button.setAttribute("aria-disabled", String(off));
    }
  }

  /** These units use the words under the pointer or the cursor. */
  at(text, ids) {
    const { editor } = this;
    const units = ids.map((id) => editor.unit(id)).filter(Boolean);
    const key = JSON.stringify(units.map(({ id, label, weight }) => [id, label, weight]));
    if (key === this.#shown) return;
    this.#shown = key;
    const chip = (unit) =>
      el(
        "button",
        {
          type: "button",
          class: "a-chip",
          tabindex: "-1",
          onclick: () => editor.choose(unit.id, { reveal: true }),
        },
        el("span", { class: "a-weight" }, String(unit.weight)),
        el("bdi", {}, unit.label || "no label"),
      );
    put(this.units, units.length ? units.map(chip) : null);
  }
}
