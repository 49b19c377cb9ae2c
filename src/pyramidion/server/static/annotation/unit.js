// @ts-check
// The current unit of a pyramid: its words in every reference, its comment, and all that can be done with it.

import { byId, el, put } from "../shared/dom.js";
import { drag, dragFrom } from "./drag.js";
import { UnitSuggestions } from "./suggestions.js";

/** @import { Contributor, Unit } from "./commands.js" */
/** @import { Target } from "./drag.js" */
/** @import { PyramidEditor } from "./pyramid.js" */

export class UnitPanel {
  #key = "";
  /** @type {Set<string>} */
  #ticked = new Set();
  /** @type {Unit | null} */
  unit = null;

  /** @param {PyramidEditor} editor */
  constructor(editor) {
    this.editor = editor;
    this.place = byId("unit");
    this.suggestions = new UnitSuggestions(editor);
    this.comment = this.#commentField();
    this.place.addEventListener("click", (event) => this.#clicked(event));
    this.place.addEventListener("pointerdown", (event) => this.#pressed(event));
  }

  update() {
    const { editor } = this;
    const unit = editor.unit(editor.current) ?? null;
    const key = JSON.stringify([unit, editor.mayEdit]);
    if (key === this.#key) return;
    const changed = unit?.id !== this.unit?.id;
    this.#key = key;
    this.unit = unit;
    if (changed) this.#ticked.clear();
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    const focused = active && this.place.contains(active) ? active.dataset.act : null;
    if (document.activeElement !== this.comment.input) this.comment.input.value = unit?.comment ?? "";
    this.comment.input.readOnly = !editor.mayEdit;
    put(this.place, unit ? this.#whole(unit) : empty());
    /** @type {HTMLElement | null} */
    const again = focused ? this.place.querySelector(`[data-act="${CSS.escape(focused)}"]`) : null;
    again?.focus();
    this.suggestions.about(unit, changed);
  }

  /** @param {Unit} unit */
  #whole(unit) {
    const may = this.editor.mayEdit;
    return [
      el(
        "header.a-unit-head",
        el("span.a-weight.a-weight-big", { title: "Weight: references that contribute" }, String(unit.weight)),
        el("h2", el("bdi", unit.label || "no label")),
      ),
      may &&
        el(
          "div.a-tools",
          { role: "group", "aria-label": "This unit" },
          tool("rename", "Rename", "R"),
          tool("merge", "Merge …", "M", "Merge with another unit"),
          unit.contributors.length > 1 && tool("split", "Split off", "P", "Ticked contributors into a new unit"),
          tool("move", "Move …", "V", "Ticked contributors into another unit"),
          tool("up", "↑", "Alt+↑", "Move up in its tier"),
          tool("down", "↓", "Alt+↓", "Move down in its tier"),
          tool("delete", "Delete", "Del"),
        ),
      unit.contributors.length
        ? el(
            "ul.a-contributors",
            { "aria-label": "Contributors" },
            unit.contributors.map((each) => this.#contributor(each, may)),
          )
        : el("p.muted", "No words yet: pick some and add them."),
      this.comment.node,
      this.suggestions.node,
    ];
  }

  /** @param {Contributor} contributor @param {boolean} may */
  #contributor({ reference, spans }, may) {
    const quote = this.editor.texts.quote(reference, spans);
    const about = { "data-act": `tick ${reference}`, "aria-label": `Tick ${reference}` };
    const box = el("input", { type: "checkbox", ...about, checked: this.#ticked.has(reference) });
    box.addEventListener("change", () => this.#ticked[box.checked ? "add" : "delete"](reference));
    return el(
      "li",
      { "data-reference": reference },
      may && box,
      el("bdi.a-from", reference),
      el(
        "button.a-quote",
        { type: "button", "data-act": `go ${reference}`, title: "Go to these words" },
        el("bdi", quote || "(no place given)"),
      ),
      may &&
        el(
          "button",
          {
            type: "button",
            class: "a-cross",
            "data-act": `drop ${reference}`,
            "aria-label": `Remove the words of ${reference}`,
            title: "Remove these words",
          },
          "×",
        ),
    );
  }

  /** The references that are ticked; where none is, and there is only one, that one. */
  get ticked() {
    const all = this.unit?.contributors.map(({ reference }) => reference) ?? [];
    const ticked = all.filter((reference) => this.#ticked.has(reference));
    return ticked.length || all.length > 1 ? ticked : all;
  }

  /** @param {MouseEvent} event */
  #clicked({ target }) {
    const act = /** @type {Element} */ (target).closest("[data-act]")?.getAttribute("data-act");
    const [what, ...rest] = act?.split(" ") ?? [];
    const reference = rest.join(" ");
    const { editor, unit } = this;
    const spans = unit?.contributors.find((each) => each.reference === reference)?.spans ?? [];
    if (what === "go") editor.ways.goTo(reference, spans);
    else if (what === "drop") editor.work.do({ type: "remove_contributor", unit: unit?.id, reference });
    else editor.run(what);
  }

  /** Words of a reference can be dragged to another unit, or to the field for a new one. @param {PointerEvent} event */
  #pressed(event) {
    const { editor, unit } = this;
    const pressed = /** @type {Element} */ (event.target);
    const row = pressed.closest("[data-reference]");
    const reference = row?.getAttribute("data-reference");
    if (!row || !reference || event.button !== 0 || !editor.mayEdit || pressed.matches("input, .a-cross")) return;
    /** @param {Element} node @returns {Target | null} */
    const target = (node) => {
      const card = node.closest("[data-unit]");
      const to = card?.getAttribute("data-unit");
      const move = () => editor.work.do({ type: "move_contributor", unit: unit?.id, reference, to });
      if (card && to !== unit?.id) return { node: card, mark: "a-drop", drop: move };
      const fresh = node.closest("#new-unit");
      return fresh && { node: fresh, mark: "a-drop", drop: () => editor.split([reference]) };
    };
    const shown = String(row.querySelector(".a-quote")?.textContent);
    dragFrom(event, (moved) => drag(moved, { shown, target }));
  }

  #commentField() {
    const input = el("textarea", { id: "comment", rows: "1", dir: "auto", "data-act": "comment-field" });
    const save = () => {
      if (this.unit && input.value !== this.unit.comment) {
        this.editor.work.do({ type: "comment_unit", unit: this.unit.id, comment: input.value });
      }
    };
    input.addEventListener("change", save);
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" && !(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
      event.preventDefault();
      save();
      this.editor.tiers.focus(this.unit?.id);
    });
    return { input, node: el("div.a-comment", el("label", { for: "comment" }, "Comment"), input) };
  }
}

const empty = () => el("p.a-empty.muted", "Choose a unit to see its words, or pick words and start a new one.");

/** @param {string} id @param {string} text @param {string} key */
function tool(id, text, key, title = text) {
  const shown = { type: "button", "data-act": id, title: `${title} (${key})` };
  return el("button.a-tool", { ...shown, "aria-label": title === text ? null : title }, text);
}
