// Finding units: search, filters, and choosing one for something that needs another unit (merging, moving).

import { byId, el, put, setText } from "./manager-dom.js";

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * filters: [{value, title, test(unit)}]; words(unit): what is searched beside label, comment and name.
 * onEnter(id): Enter in the search field, with the first unit found.
 */
export class Finder {
  #asked = null;

  constructor({ tiers, filters, words, onEnter, leave }) {
    Object.assign(this, { tiers, filters, words });
    this.search = byId("search");
    this.select = byId("filter");
    this.found = byId("found");
    put(
      this.select,
      filters.map(({ value, title }) => el("option", { value }, title)),
    );
    this.search.addEventListener("input", () => this.apply());
    this.select.addEventListener("change", () => this.apply());
    this.search.addEventListener("keydown", (event) => {
      const [first] = this.tiers.ids;
      if (event.key === "Enter" && first !== undefined) onEnter(first);
      else if (event.key === "ArrowDown") this.tiers.focus(first);
      else if (event.key === "Escape") {
        this.clear();
        leave();
      } else return;
      event.preventDefault();
    });
    byId("ask-cancel").addEventListener("click", () => this.answer(null));
  }

  focus() {
    this.search.focus();
    this.search.select();
  }

  clear() {
    if (!this.search.value) return;
    this.search.value = "";
    this.apply();
  }

  apply() {
    const terms = plain(this.search.value).split(/\s+/).filter(Boolean);
    const { test } = this.filters.find(({ value }) => value === this.select.value) ?? this.filters[0];
    const all = !terms.length && this.select.value === this.filters[0].value;
    const passes = (unit) => {
      if (!test(unit)) return false;
      if (!terms.length) return true;
      const text = plain(`${unit.label} ${unit.comment} ${unit.id} ${this.words(unit)}`);
      return terms.every((term) => text.includes(term));
    };
    const count = this.tiers.filter(passes);
    setText(this.found, all ? "" : `${count} shown`);
  }

  // -- asking for a unit ---------------------------------------------------------------------------------------

  get asking() {
    return this.#asked !== null;
  }

  /** Let the annotator choose a unit, by mouse or keyboard: its name, or null where they think better of it. */
  ask(question) {
    this.answer(null);
    setText(byId("ask-text"), question);
    byId("ask").hidden = false;
    this.focus();
    return new Promise((resolve) => (this.#asked = resolve));
  }

  answer(id) {
    const resolve = this.#asked;
    if (!resolve) return;
    this.#asked = null;
    byId("ask").hidden = true;
    this.clear();
    resolve(id);
  }
}
