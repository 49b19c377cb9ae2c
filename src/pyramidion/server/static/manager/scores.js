// @ts-check
// Scores by any method: ranking with bars, the signature that names every choice, and all notes.

import { get } from "../shared/api.js";
import { busy, el, onSubmit, put, setText, submitButton } from "../shared/dom.js";
import { count, fixed, isNumber, NONE } from "../shared/format.js";
import { announce, errorBox, noteList } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { stackedBar } from "./charts.js";
import { METHODS, orderMethods } from "./words.js";

/** @import { Problem } from "../shared/api.js" */
/** @import { Campaign, Study } from "./words.js" */
/** @typedef {{ system: string } & Record<string, any>} Row a system and its measures */
/** @typedef {{ signature: string, notes?: Problem[], measures: string[], scales?: Record<string, [number, number]>,
 *   systems: Row[] }} ScoreData */

/** @param {string} method */
const words = (method) => (Object.hasOwn(METHODS, method) ? METHODS[method] : [method, ""]);

export class Scores {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.select = el("select", { id: "score-method", "aria-describedby": "score-line" });
    this.button = submitButton("Show scores");
    this.line = el("p.m-help", { id: "score-line" });
    this.result = el("div.m-scores", { "aria-busy": "false" });
    const form = el(
      "form.m-row",
      el("div.field", el("label", { for: "score-method" }, "Method"), this.select),
      this.button,
    );
    onSubmit(form, this.button, () => this.#show());
    const start = el("p", "Choose a method. Every table names the choices it was made with, and what it leaves out.");
    put(this.result, el("div.m-empty", start));
    this.select.addEventListener("change", () => this.#explain());
    put(place, form, this.line, this.result);
  }

  /** @param {Study} study */
  update(study) {
    if (this.select.options.length) return;
    for (const value of orderMethods(study.methods)) this.select.append(el("option", { value }, words(value)[0]));
    this.#explain();
    /** @param {Campaign} campaign */
    const collected = ({ kind, progress }) => ["judge", "rate"].includes(kind) && progress.submitted > 0;
    if (study.counts.judgments || study.campaigns.some(collected)) busy(this.button, () => this.#show());
  }

  #explain() {
    setText(this.line, words(this.select.value)[1]);
  }

  async #show() {
    const method = this.select.value;
    this.result.setAttribute("aria-busy", "true");
    try {
      const scores = await get(`/api/manage/scores?method=${encodeURIComponent(method)}`);
      put(this.result, scoreTable(scores));
      announce(`Scores of ${count(scores.systems.length)} systems by ${method}`);
    } catch (/** @type {any} */ error) {
      const notYet = error.status === 409;
      const hint = el("p", el("strong", "Not possible yet. "), error.message);
      put(this.result, notYet ? el("div.m-empty", hint) : errorBox(error));
    } finally {
      this.result.setAttribute("aria-busy", "false");
    }
  }
}

/** @param {ScoreData} scores */
function scoreTable({ signature, notes = [], measures, scales = {}, systems }) {
  const best = measures[0];
  const ranks = ranking(systems, best);
  const columns = [
    column("Rank", (row) => ranks.get(row.system) ?? null, { kind: "rank", first: "ascending" }),
    column("System", (row) => row.system, { header: true }),
    ...measures.map((measure) => {
      /** @param {Row} row */
      const value = (row) => (isNumber(row[measure]) ? row[measure] : null);
      const [low, high] = scaleOf(measure, scales, systems);
      const title = scaleTitle(measure, low, high);
      return column(title, value, {
        kind: "bar",
        first: "descending",
        cell: (row) => scoreCell(value(row), low, high),
      });
    }),
  ];
  const table = new DataTable({
    caption: `Systems by ${best}`,
    columns,
    key: (row) => row.system,
    sort: { by: best && scaleTitle(best, ...scaleOf(best, scales, systems)), direction: "descending" },
    page: 50,
    noun: "system",
    plain: measures.length === 1,
    empty: el("p", "No system could be scored; the notes say why."),
  });
  table.update(systems);
  const simulated = notes.some((note) => note.where === "SIMULATED");
  return [
    simulated && el("p.notice.warn", "Simulated: a rehearsal made up the answers, so these scores are not real."),
    table.node,
    el("h3", "Signature"),
    el("code.m-signature", { tabindex: "0" }, String(signature)),
    noteList(notes, { none: "No notes: nothing was missing or left out." }),
  ];
}

/** 1, 2, 2, 4: equal scores share a rank, undefined ones have none. @param {Row[]} systems @param {string} measure */
export function ranking(systems, measure) {
  const ranked = systems.filter((row) => isNumber(row[measure]));
  /** @param {Row} row */
  const rank = (row) => 1 + ranked.filter((other) => other[measure] > row[measure]).length;
  return new Map(ranked.map((row) => [row.system, rank(row)]));
}

/**
 * Where a bar begins and ends: at the ends of a rating scale, at 0 and 1, or at the highest score there is.
 * @param {string} measure @param {Record<string, [number, number]>} scales @param {Row[]} systems
 * @returns {[number, number]}
 */
export function scaleOf(measure, scales, systems) {
  if (Object.hasOwn(scales, measure)) return scales[measure];
  return [0, Math.max(1, ...systems.map((row) => (isNumber(row[measure]) ? row[measure] : 0)))];
}

/** @param {string} measure @param {number} low @param {number} high */
const scaleTitle = (measure, low, high) =>
  low === 0 && high === 1 ? measure : `${measure} (${fixed(low, 0)} to ${high % 1 ? fixed(high, 2) : high})`;

/** @param {number | null} value @param {number} low @param {number} high */
function scoreCell(value, low, high) {
  if (value === null) return el("span", { title: "Not defined; see the notes" }, NONE);
  const size = Math.max(0, (value - low) / (high - low));
  return el("div.m-score", el("span", fixed(value, high > 1 ? 2 : 3)), stackedBar([["done", size]]));
}
