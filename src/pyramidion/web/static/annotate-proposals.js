// Proposals for a peer: units whose words stand here too (found in other annotated summaries), and units that are
// similar to some words. They are accepted one by one, and look like nothing that is decided.

import { el, fixed, put } from "./manager-dom.js";
import { get } from "./manager-api.js";
import { paint } from "./annotate-paint.js";

export class Proposals {
  #on = false;
  #found = null;
  #dismissed = new Set();

  constructor(editor) {
    this.editor = editor;
    this.button = el(
      "button",
      { type: "button", class: "a-tool", "data-act": "suggest", "aria-expanded": "false", title: "Proposals (S)" },
      "Proposals",
    );
    this.list = el("div", { class: "a-suggestions", "aria-live": "polite" });
    this.node = el("section", { class: "a-suggest", "aria-label": "Proposals" }, this.button, this.list);
  }

  async toggle() {
    this.#on = !this.#on;
    this.button.setAttribute("aria-expanded", String(this.#on));
    this.node.scrollIntoView({ block: "nearest" });
    if (!this.#on) {
      paint.clear("hint");
      return put(this.list);
    }
    put(this.list, el("p", { class: "muted small" }, "Looking …"));
    try {
      this.#found = await get(`/api/annotate/${this.editor.work.id}/suggestions`);
      this.refresh();
    } catch (error) {
      put(this.list, el("p", { class: "small" }, error.message));
    }
  }

  /** Those that are still open: not accepted, not dismissed. */
  refresh() {
    if (!this.#on || !this.#found) return;
    const taken = new Set(this.editor.state.peer.matches.map(key));
    const open = (items) => items.filter((item) => !taken.has(key(item)) && !this.#dismissed.has(key(item)));
    const [proposals, likely] = [open(this.#found.proposals), open(this.#found.likely)];
    const group = (title, items) =>
      items.length > 0 && [el("h3", {}, title), el("ul", {}, items.map((item) => this.#item(item)))];
    put(
      this.list,
      group("Proposal: marked so in other summaries", proposals),
      group("Proposal: similar words", likely),
      !proposals.length && !likely.length && el("p", { class: "muted small" }, "No proposals."),
    );
  }

  #item(item) {
    const { editor } = this;
    const [text] = editor.texts.all;
    const unit = editor.unit(item.unit);
    const hint = () => {
      text.paint("hint", item.spans);
      editor.light([item.unit]);
    };
    const leave = () => {
      paint.clear("hint");
      editor.light([]);
    };
    const settle = (run) => () => {
      const at = [...this.list.querySelectorAll("li")].findIndex((node) => node.contains(document.activeElement));
      leave();
      run();
      this.refresh();
      const items = this.list.querySelectorAll("li");
      (items[Math.min(at, items.length - 1)]?.querySelector("button") ?? this.button).focus();
    };
    const accept = () => editor.work.do({ type: "match_unit", unit: item.unit, spans: item.spans });
    const cross = { type: "button", class: "a-cross", "aria-label": "Dismiss the proposal" };
    return el(
      "li",
      { class: "a-suggestion", onpointerenter: hint, onpointerleave: leave, onfocusin: hint, onfocusout: leave },
      el("span", { class: "a-weight" }, String(unit?.weight ?? "")),
      el(
        "span",
        { class: "a-suggested" },
        el("bdi", {}, unit?.label || item.unit),
        el("bdi", { class: "a-suggested-words" }, text.quote(text.places.toUnits(item.spans))),
      ),
      item.similarity !== undefined && el("span", { class: "muted small", title: "Similarity" }, fixed(item.similarity)),
      editor.mayEdit && el("button", { type: "button", class: "a-tool", onclick: settle(accept) }, "Accept"),
      el("button", { ...cross, onclick: settle(() => this.#dismissed.add(key(item))) }, "×"),
    );
  }
}

const key = ({ unit, spans }) => JSON.stringify([unit, spans]);
