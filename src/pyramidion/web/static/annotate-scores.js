// The scores of a peer as annotated so far, with what they are made of.

import { capital, el, fixed, put, setText } from "./manager-dom.js";

const MAIN = ["original", "modified", "comprehensive"];

export class Scores {
  #made = null;

  constructor(place) {
    this.place = place;
  }

  /** stale: changes are on their way whose scores are not known yet. */
  update(score, stale) {
    this.place.classList.toggle("a-stale", stale);
    if (!score) return;
    this.#made ??= this.#make();
    for (const { name, value, text } of score.parts) {
      const shown = this.#made.get(name);
      if (!shown) continue;
      setText(shown.value, fixed(value, MAIN.includes(name) ? 4 : 2));
      setText(shown.text, text);
      if (shown.box) shown.box.title = text;
    }
    const { matched, repeated, unmatched } = score.counts;
    setText(this.counts, `${matched} matched · ${repeated} repeated · ${unmatched} in no unit`);
  }

  #make() {
    const made = new Map();
    const figure = (name) => {
      const [value, text] = [el("dd", { class: "a-score" }), el("dd", { class: "a-score-text" })];
      const box = el("div", { "data-score": name }, el("dt", {}, capital(name)), value, text);
      made.set(name, { value, text, box });
      return box;
    };
    const minor = (name) => {
      const [value, text] = [el("strong", {}), el("span", {})];
      made.set(name, { value, text });
      return el("p", { "data-score": name }, `${capital(name)} `, value, ": ", text);
    };
    this.counts = el("p", { class: "a-counts" });
    put(
      this.place,
      el("dl", { class: "a-figures" }, MAIN.map(figure)),
      el("details", { class: "a-parts" }, el("summary", {}, this.counts), ["precision", "recall"].map(minor)),
    );
    return made;
  }
}
