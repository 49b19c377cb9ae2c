// Suggestions for the current unit: words that may belong to it, units that may say the same. Nothing is ever applied
// by itself, and what is suggested never looks like what is decided.

import { el, fixed, put } from "./manager-dom.js";
import { get } from "./manager-api.js";
import { isProvisional } from "./annotate-edit.js";
import { paint } from "./annotate-paint.js";

const PAUSE = 250;

export class Suggestions {
  #unit = null;
  #timer = 0;
  #asking = null;
  #on = false;

  constructor(editor) {
    this.editor = editor;
    this.button = el(
      "button",
      { type: "button", class: "a-tool", "data-act": "suggest", "aria-expanded": "false", title: "Suggestions (S)" },
      "Suggest",
    );
    this.list = el("div", { class: "a-suggestions", "aria-live": "polite" });
    this.node = el("section", { class: "a-suggest", "aria-label": "Suggestions" }, this.button, this.list);
  }

  toggle() {
    this.#on = !this.#on;
    this.button.setAttribute("aria-expanded", String(this.#on));
    if (this.#on) this.#load(0);
    else this.#clear();
  }

  /** The unit that is current now; another one is asked about only after a moment's rest. */
  about(unit, changed) {
    this.#unit = unit;
    if (changed) this.#clear();
    if (this.#on && changed && unit) this.#load(PAUSE);
  }

  #clear() {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    paint.clear("hint");
    put(this.list);
  }

  #load(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), wait);
  }

  async #ask() {
    const unit = this.#unit;
    if (!unit || isProvisional(unit.id)) return;
    this.#asking?.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      const path = `/api/annotate/${this.editor.work.id}/suggestions?unit=${encodeURIComponent(unit.id)}`;
      const { contributors, same } = await get(path, { signal });
      this.#show(unit, contributors, same);
    } catch (error) {
      if (error.name !== "AbortError") put(this.list, el("p", { class: "small" }, error.message));
    }
  }

  #show(unit, contributors, same) {
    const { work, texts } = this.editor;
    const add = ({ reference, spans }) => work.do({ type: "add_contributor", unit: unit.id, reference, spans });
    const merge = ({ unit: other }) => work.do({ type: "merge_units", units: [unit.id, other] });
    const words = contributors.map((each) =>
      this.#item({
        from: each.reference,
        text: each.text,
        similarity: each.similarity,
        verb: "Add",
        accept: () => add(each),
        hint: () => texts.get(each.reference)?.paint("hint", each.spans),
      }),
    );
    const units = same.map((each) =>
      this.#item({
        from: "unit",
        text: each.label || "no label",
        similarity: each.similarity,
        verb: "Merge",
        accept: () => merge(each),
        hint: () => this.editor.light([each.unit]),
      }),
    );
    const group = (title, items) => items.length > 0 && [el("h3", {}, title), el("ul", {}, items)];
    const none = !words.length && !units.length && el("p", { class: "muted small" }, "No suggestions for this unit.");
    put(this.list, group("Suggestion: may belong here", words), group("Suggestion: may say the same", units), none);
  }

  #item({ from, text, similarity, verb, accept, hint }) {
    const leave = () => {
      paint.clear("hint");
      this.editor.light([]);
    };
    const take = el("button", { type: "button", class: "a-tool" }, verb);
    const dismiss = el("button", { type: "button", class: "a-cross", "aria-label": "Dismiss the suggestion" }, "×");
    const item = el(
      "li",
      { class: "a-suggestion", onpointerenter: hint, onpointerleave: leave, onfocusin: hint, onfocusout: leave },
      el("bdi", { class: "a-from" }, from),
      el("bdi", { class: "a-suggested" }, text),
      el("span", { class: "muted small", title: "Similarity" }, fixed(similarity)),
      this.editor.mayEdit && take,
      dismiss,
    );
    const remove = () => {
      const next = item.nextElementSibling ?? item.previousElementSibling;
      item.remove();
      leave();
      (next?.querySelector("button") ?? this.button).focus();
    };
    take.addEventListener("click", () => accept() && remove());
    dismiss.addEventListener("click", remove);
    return item;
  }
}
