// @ts-check
// The strip below the texts: what is picked, what can be done with it, and the units it is likely to be about; where
// nothing is picked, the units that use the words under the pointer or the cursor.

import { byId, el, put, setText } from "../shared/dom.js";
import { likelyUnits } from "./finder.js";
import { quotation } from "./pick.js";

/** @import { Unit } from "./commands.js" */
/** @import { Editor } from "./editor.js" */

/** Units are ranked when the pick rests: on the way through a text it would only cost time. */
const REST = 120;

export class Here {
  #shown = "";
  /** @type {string[]} */
  #under = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #ranking;

  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
    this.quote = byId("picked");
    this.units = byId("units-here");
    this.buttons = [...byId("pick-actions").querySelectorAll("button")];
    for (const button of this.buttons) {
      button.addEventListener("mousedown", (event) => event.preventDefault()); // the text keeps the focus
      button.addEventListener("click", () => editor.run(String(button.dataset.action)));
    }
  }

  update() {
    const { pick, current, mayEdit } = this.editor;
    setText(this.quote, pick.empty ? "" : quotation(pick));
    this.quote.parentElement?.classList.toggle("a-nothing", pick.empty);
    for (const button of this.buttons) {
      const needsUnit = button.hasAttribute("data-needs-unit");
      const off = !mayEdit || pick.empty || (needsUnit && current === null);
      button.setAttribute("aria-disabled", String(off));
    }
    clearTimeout(this.#ranking);
    if (pick.empty || !mayEdit) this.#draw();
    else this.#ranking = setTimeout(() => this.#draw(), REST);
  }

  /** The units that the words picked are likely to be about, the best first. */
  get likely() {
    const { editor } = this;
    /** @param {Unit} unit */
    const sayings = (unit) => editor.quotesOf(unit).map(({ text }) => text);
    return likelyUnits(quotation(editor.pick), editor.units, sayings);
  }

  /** These units use the words under the pointer or the cursor. @param {string[]} ids */
  at(ids) {
    this.#under = ids;
    if (this.editor.pick.empty || !this.editor.mayEdit) this.#draw();
  }

  #draw() {
    const { editor } = this;
    const picked = !editor.pick.empty && editor.mayEdit;
    const units = picked ? this.likely : this.#under.flatMap((id) => editor.unit(id) ?? []);
    const key = JSON.stringify([picked, units.map(({ id, label, weight }) => [id, label, weight])]);
    if (key === this.#shown) return;
    this.#shown = key;
    this.units.setAttribute("aria-label", picked ? "Likely units for these words" : "Units of these words");
    /** @param {Unit} unit @param {number} i */
    const chip = ({ id, label, weight }, i) => {
      const run = () => (picked ? editor.take(id) : editor.choose(id, { reveal: true }));
      const shown = [
        picked && el("kbd", String(i + 1)),
        el("span.a-weight", String(weight)),
        el("bdi", label || "no label"),
      ];
      const made = el("button.a-chip", { type: "button", tabindex: "-1", onclick: run }, shown);
      made.addEventListener("mousedown", (event) => event.preventDefault());
      return made;
    };
    put(this.units, units.map(chip));
  }
}
