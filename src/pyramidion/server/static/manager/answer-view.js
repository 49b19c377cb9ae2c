// @ts-check
// An answer in readable form: statements, units with the words marked for them, ratings, or which summary is better.

import { el, name } from "../shared/dom.js";
import { count, isNumber, NONE, plural } from "../shared/format.js";
import { itemList } from "../shared/messages.js";
import { badge } from "./people.js";

/** @import { Answer } from "./answers.js" */

const ATTENTION = "attention-check";

/** @type {Record<string, string>} */
const WINNERS = { first: "the first is better", second: "the second is better", tie: "no difference" };

/** @param {Answer} row */
export function answerView({ answer, labels, quotes }) {
  if (!answer) return el("span.m-help", NONE);
  const { units, aspects, winner, statements, comment, pasted, evidence: _spans, ...rest } = answer;
  return el(
    "div.m-answer",
    statements && itemList(statements, "ol"),
    units && unitsView(units, labels ?? {}, quotes ?? {}),
    aspects && ratingsView(aspects),
    winner && el("p", Object.hasOwn(WINNERS, winner) ? WINNERS[winner] : String(winner)),
    comment && el("blockquote", { dir: "auto" }, String(comment)),
    pasted?.length > 0 && el("details", el("summary", `${plural(pasted.length, "text")} pasted`), itemList(pasted)),
    Object.keys(rest).length > 0 && el("pre", JSON.stringify(rest, null, 1)),
  );
}

/** The words of a summary that were marked for a unit. @param {string[]} [quotes] */
export const quoted = (quotes = []) => quotes.map((text) => el("q.m-quote", { dir: "auto" }, text));

/**
 * Units by their texts where the server sends `labels`, by their ids otherwise.
 * @param {Record<string, number | null>} units
 * @param {Record<string, string>} labels
 * @param {Record<string, string[]>} quotes
 */
function unitsView(units, labels, quotes) {
  const entries = Object.entries(units).filter(([unit]) => unit !== ATTENTION);
  const present = entries.filter(([, value]) => value === 1).length;
  /** @param {number | null} value */
  const word = (value) => (value === 1 ? "present" : value === 0 ? "not present" : "no answer");
  /** @param {[unit: string, value: number | null]} entry */
  const item = ([unit, value]) =>
    el(
      "li",
      name(Object.hasOwn(labels, unit) ? labels[unit] : unit),
      badge([word(value), value === 1 ? "good" : ""]),
      Object.hasOwn(quotes, unit) && quoted(quotes[unit]),
    );
  return el(
    "details",
    el("summary", `${count(present)} of ${count(entries.length)} present`),
    el("ul.m-unit-answers", entries.map(item)),
    Object.hasOwn(units, ATTENTION) && el("p.m-help", `Attention check: ${word(units[ATTENTION])}`),
  );
}

/** @param {Record<string, unknown>} aspects */
function ratingsView(aspects) {
  /** @param {[aspect: string, value: unknown]} entry */
  const item = ([aspect, value]) => el("div", el("dt", name(aspect)), el("dd", isNumber(value) ? String(value) : NONE));
  return el("dl.m-ratings", Object.entries(aspects).map(item));
}
