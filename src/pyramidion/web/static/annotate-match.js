// Beside the summary: the current unit's matches and its words in the references, content in no unit, proposals.

import { byId, el, put } from "./manager-dom.js";
import { get } from "./manager-api.js";
import { Proposals } from "./annotate-proposals.js";

export class MatchPanel {
  #key = "";
  #references = new Map();

  constructor(editor) {
    this.editor = editor;
    this.place = byId("unit");
    this.proposals = new Proposals(editor);
    this.place.addEventListener("click", ({ target }) => {
      if (target.closest("[data-act=suggest]")) this.proposals.toggle();
    });
    this.#loadReferences().catch(() => {}); // labels alone will do
  }

  update() {
    const { editor } = this;
    const { peer } = editor.state;
    const unit = editor.current === null ? null : editor.unit(editor.current);
    const matches = unit ? editor.matchesOf(unit.id) : [];
    const lost = peer.matches.filter(({ id }) => peer.lost?.includes(id));
    const key = JSON.stringify([unit, matches, peer.marks, lost, editor.mayEdit]);
    if (key === this.#key) return;
    this.#key = key;
    put(
      this.place,
      unit ? this.#unit(unit, matches) : el("p", { class: "muted" }, "Choose a unit to see what it says."),
      lost.length > 0 && this.#list("Units that the pyramid no longer has", lost),
      peer.marks.length > 0 && this.#list("In no unit", peer.marks.map((mark) => ({ ...mark, unit: null }))),
      this.proposals.node,
    );
    this.proposals.refresh();
  }

  #unit(unit, matches) {
    const from = unit.contributors.map(({ reference, spans }) =>
      el("li", {}, el("bdi", { class: "a-from" }, reference), el("bdi", { class: "a-words" }, this.#words(reference, spans))),
    );
    return [
      el(
        "header",
        { class: "a-unit-head" },
        el("span", { class: "a-weight a-weight-big", title: "Weight" }, String(unit.weight)),
        el("h2", {}, el("bdi", {}, unit.label || "no label")),
      ),
      unit.comment && el("p", { class: "small" }, el("bdi", {}, unit.comment)),
      matches.length
        ? this.#list(matches.length > 1 ? `Matched ${matches.length} times` : "Matched", matches)
        : el("p", { class: "muted small" }, "Not matched."),
      from.length > 0 && [
        el("h3", { class: "a-sub" }, "In the references"),
        el("ul", { class: "a-contributors", "aria-label": "Contributors" }, from),
      ],
    ];
  }

  #words(reference, spans) {
    const points = this.#references.get(reference) ?? [];
    return spans.map(([start, end]) => points.slice(start, end).join("")).join(" … ");
  }

  /** The texts of the references do not change with the annotation: they are asked for once. */
  async #loadReferences() {
    const { texts } = await get(`/api/annotate/${this.editor.work.id}/references`);
    this.#references = new Map(texts.map(({ name, text }) => [name, Array.from(text)]));
    this.#key = "";
    this.update();
  }

  #list(title, mentions) {
    const { editor } = this;
    const [text] = editor.texts.all;
    const item = (mention) => {
      const spans = text.places.toUnits(mention.spans);
      const go = () => spans.length && editor.selecting.goTo(text, spans[0][0]);
      return el(
        "li",
        {},
        el("button", { type: "button", class: "a-quote", title: "Go to these words", onclick: go }, el("bdi", {}, text.quote(spans) || "(no place given)")),
        editor.mayEdit &&
          el(
            "button",
            { type: "button", class: "a-cross", "aria-label": "Remove", title: "Remove", onclick: () => editor.removeMention(mention) },
            "×",
          ),
      );
    };
    return [
      el("h3", { class: "a-sub" }, title),
      el("ul", { class: "a-contributors", "aria-label": title }, mentions.map(item)),
    ];
  }
}
