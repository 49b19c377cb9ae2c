// The current unit of a pyramid: its words in every reference, its comment, and all that can be done with it.

import { byId, el, put } from "./manager-dom.js";
import { drag, dragFrom } from "./annotate-drag.js";
import { Suggestions } from "./annotate-suggest.js";

export class UnitPanel {
  #key = "";
  #ticked = new Set();

  constructor(editor) {
    this.editor = editor;
    this.place = byId("unit");
    this.suggestions = new Suggestions(editor);
    this.comment = this.#commentField();
    this.place.addEventListener("click", (event) => this.#clicked(event));
    this.place.addEventListener("pointerdown", (event) => this.#pressed(event));
  }

  update() {
    const { editor } = this;
    const unit = editor.current === null ? null : editor.unit(editor.current);
    const key = JSON.stringify([unit, editor.mayEdit]);
    if (key === this.#key) return;
    const changed = unit?.id !== this.unit?.id;
    this.#key = key;
    this.unit = unit;
    if (changed) this.#ticked.clear();
    const focused = this.place.contains(document.activeElement) ? document.activeElement.dataset.act : null;
    if (document.activeElement !== this.comment.input) this.comment.input.value = unit?.comment ?? "";
    this.comment.input.readOnly = !editor.mayEdit;
    put(this.place, unit ? this.#whole(unit) : empty());
    if (focused) this.place.querySelector(`[data-act="${CSS.escape(focused)}"]`)?.focus();
    this.suggestions.about(unit, changed);
  }

  #whole(unit) {
    const may = this.editor.mayEdit;
    return [
      el(
        "header",
        { class: "a-unit-head" },
        el("span", { class: "a-weight a-weight-big", title: "Weight: references that contribute" }, String(unit.weight)),
        el("h2", {}, el("bdi", {}, unit.label || "no label")),
      ),
      may &&
        el(
          "div",
          { class: "a-tools", role: "group", "aria-label": "This unit" },
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
            "ul",
            { class: "a-contributors", "aria-label": "Contributors" },
            unit.contributors.map((each) => this.#contributor(each, may)),
          )
        : el("p", { class: "muted" }, "No words yet: pick some and add them."),
      this.comment.node,
      this.suggestions.node,
    ];
  }

  #contributor({ reference, spans }, may) {
    const text = this.editor.texts.get(reference);
    const quote = text ? text.quote(text.places.toUnits(spans)) : "";
    const box = el("input", { type: "checkbox", "data-act": `tick ${reference}`, "aria-label": `Tick ${reference}` });
    box.checked = this.#ticked.has(reference);
    box.addEventListener("change", () => this.#ticked[box.checked ? "add" : "delete"](reference));
    return el(
      "li",
      { "data-reference": reference },
      may && box,
      el("bdi", { class: "a-from" }, reference),
      el(
        "button",
        { type: "button", class: "a-quote", "data-act": `go ${reference}`, title: "Go to these words" },
        el("bdi", {}, quote || "(no place given)"),
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
    const found = all.filter((reference) => this.#ticked.has(reference));
    return found.length || all.length > 1 ? found : all;
  }

  #clicked({ target }) {
    const [what, ...rest] = target.closest("[data-act]")?.dataset.act.split(" ") ?? [];
    const reference = rest.join(" ");
    const { editor } = this;
    if (what === "go") return this.#goTo(reference);
    if (what === "drop") return editor.work.do({ type: "remove_contributor", unit: this.unit.id, reference });
    return editor.actions().find(({ id }) => id === what)?.run();
  }

  #goTo(reference) {
    const text = this.editor.texts.get(reference);
    const spans = this.unit.contributors.find((each) => each.reference === reference)?.spans ?? [];
    if (text && spans.length) this.editor.selecting.goTo(text, text.places.toUnits(spans)[0][0]);
  }

  /** Words of a reference can be dragged to another unit, or to the field for a new one. */
  #pressed(event) {
    const { editor, unit } = this;
    const row = event.target.closest("[data-reference]");
    if (!row || event.button !== 0 || !editor.mayEdit || event.target.matches("input, .a-cross")) return;
    const { reference } = row.dataset;
    const move = (to) => editor.work.do({ type: "move_contributor", unit: unit.id, reference, to });
    const target = (node) => {
      const card = node.closest("[data-unit]");
      if (card && card.dataset.unit !== unit.id) return { node: card, mark: "a-drop", drop: () => move(card.dataset.unit) };
      const fresh = node.closest("#new-unit");
      return fresh && { node: fresh, mark: "a-drop", drop: () => editor.split([reference]) };
    };
    dragFrom(event, (moved) => drag(moved, { shown: row.querySelector(".a-quote").textContent, target }));
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
    return { input, node: el("div", { class: "a-comment" }, el("label", { for: "comment" }, "Comment"), input) };
  }
}

const empty = () =>
  el("p", { class: "a-empty muted" }, "Choose a unit to see its words, or pick words and start a new one.");

function tool(id, text, key, title = text) {
  const shown = { type: "button", class: "a-tool", "data-act": id, title: `${title} (${key})` };
  return el("button", { ...shown, "aria-label": title === text ? null : title }, text);
}
