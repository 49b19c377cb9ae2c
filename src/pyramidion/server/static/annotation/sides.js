// @ts-check
// Two annotations on their text: whose words are whose; and how far they agree, with the scores that follow from each.

import { byId, el, name, put, setText } from "../shared/dom.js";
import { fixed, percent, plural } from "../shared/format.js";
import { difference, Places, union } from "../shared/spans.js";
import { paint } from "./text.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { Unit } from "./commands.js" */
/** @import { Compared, Row, Side } from "./compare.js" */
/** @import { Span } from "../shared/spans.js" */

/** @type {Side[]} */
export const SIDES = ["first", "second"];
const MEASURES = ["original", "modified", "comprehensive"];

/** The texts beside the rows: with the words of both annotations, or, where one row is looked at, with those of the row. */
export class SideTexts {
  /** @param {Compared} compared @param {HTMLElement} place */
  constructor(compared, place) {
    this.compared = compared;
    this.place = place;
    this.texts = new Map(
      compared.texts.map(({ name: of, text }) => [
        of,
        { places: new Places(text), node: document.createTextNode(text) },
      ]),
    );
    const legend = el(
      "p.a-legend.small",
      SIDES.map((side) => el(`span.a-key-${side}`, name(compared[side].name), " only")),
      el("span.a-key-both", "both"),
    );
    const panes = [...this.texts].map(([of, { node }]) =>
      el("section.a-pane", { "aria-label": of }, el("h2.a-text-title", el("bdi", of)), el("div.text.a-text", node)),
    );
    put(place, legend, panes);
    this.show(null);
  }

  /** The words that a side has in a row, by text. @param {Row} row @param {Side} side @returns {[of: string, spans: Span[]][]} */
  #words(row, side) {
    const said = row[side];
    if (!said) return [];
    if (this.compared.kind === "pyramid") {
      return said.contributors.map((/** @type {any} */ { reference, spans }) => [reference, spans]);
    }
    return said.map((/** @type {any} */ { spans }) => [this.compared.texts[0].name, spans]);
  }

  /** Paint the words of a row, or of all. @param {Row | null} row */
  show(row) {
    const rows = row ? [row] : this.compared.rows;
    /** @type {HTMLElement | null} */
    let top = null;
    for (const [of, { places, node }] of this.texts) {
      const [first, second] = SIDES.map((side) => {
        const words = rows.flatMap((each) => this.#words(each, side));
        return union(places.toUnits(words.flatMap(([where, spans]) => (where === of ? spans : []))));
      });
      const alone = difference(first, second);
      paint.set("first", node, alone);
      paint.set("second", node, difference(second, first));
      paint.set("both", node, difference(first, alone));
      if (row && first.length + second.length) top ??= node.parentElement;
    }
    if (top && this.place.scrollHeight > this.place.clientHeight) {
      this.place.scrollTop = /** @type {HTMLElement} */ (top.closest(".a-pane")).offsetTop - 40;
    }
  }

  /** @param {string} of @param {Span[]} spans */
  quote(of, spans) {
    const held = this.texts.get(of);
    const pieces = held?.places.toUnits(spans).map(([start, end]) => held.node.data.slice(start, end));
    return pieces?.join(" … ") ?? "";
  }
}

// -- agreement and scores ------------------------------------------------------------------------------------

/** @param {Compared} compared */
export function agreementLine({ agreement: { same, of, words, alpha }, kind }) {
  if (!of) return "There is nothing to agree on yet.";
  const what = kind === "peer" ? "whether it is there, for" : "the references that tell it, for";
  return [
    `Both agree on ${what} `,
    el("strong", `${same} of ${plural(of, "unit")}`),
    ` (${percent(same, of)})`,
    alpha !== null && alpha !== undefined && [", Krippendorff’s α ", el("strong", fixed(alpha))],
    ". ",
    words !== null && `In units that both have, ${percent(words, 1)} of the words are the same (mean Dice).`,
  ];
}

/** What each annotation comes to: the scores of a summary, the size of a pyramid; of the third as it is now. */
export class Outcomes {
  /** @param {Compared} compared */
  constructor(compared) {
    this.compared = compared;
    const titles = compared.kind === "peer" ? MEASURES : ["units", "contributors"];
    this.cells = titles.map((title) => ({ title, third: el("td.number") }));
    this.head = el("th", { scope: "col", hidden: true }, "Third");
    /** @param {Child} content */
    const col = (content) => el("th", { scope: "col" }, content);
    const rows = this.cells.map(({ title, third }) => {
      const sides = SIDES.map((side) => el("td.number", this.#value(title, side)));
      return el("tr", el("th", { scope: "row" }, title), sides, third);
    });
    const caption = compared.kind === "peer" ? "Scores by each annotation" : "Size of each pyramid";
    this.node = el(
      "table.a-outcomes",
      el("caption", caption),
      el(
        "thead",
        el(
          "tr",
          el("td"),
          SIDES.map((side) => col(name(compared[side].name))),
          this.head,
        ),
      ),
      el("tbody", rows),
    );
    this.third(null);
  }

  /** @param {string} title @param {Side} side */
  #value(title, side) {
    if (this.compared.kind === "peer") return fixed(this.compared[side].score?.[title], 4);
    return this.#size(
      title,
      this.compared.rows.flatMap((row) => row[side] ?? []),
    );
  }

  /** @param {string} title @param {Unit[]} units */
  #size = (title, units) =>
    String(title === "units" ? units.length : units.reduce((sum, { contributors }) => sum + contributors.length, 0));

  /** @param {{ score: any, pyramid: { units: Unit[] } } | null} state of the third */
  third(state) {
    this.head.hidden = !state;
    for (const { title, third } of this.cells) {
      third.hidden = !state;
      if (!state) continue;
      const { kind } = this.compared;
      setText(third, kind === "peer" ? fixed(state.score?.[title], 4) : this.#size(title, state.pyramid.units));
    }
  }
}

/** @param {number} done @param {number} all */
export function drawProgress(done, all) {
  const place = byId("settled");
  const text = all ? `${done} of ${plural(all, "disagreement")} settled` : "No disagreements to settle";
  const line = place.querySelector("span");
  if (line) setText(line, text);
  else put(place, el("span", text), el("progress", { max: Math.max(all, 1), "aria-label": "Disagreements settled" }));
  const bar = place.querySelector("progress");
  if (bar) bar.value = all ? done : 1;
}
