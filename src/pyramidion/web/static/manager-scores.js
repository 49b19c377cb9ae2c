// Scores by any method: ranking with bars, the signature that names every choice, and all notes.

import { errorBox, get } from "./manager-api.js";
import { busy, count, el, fixed, isNumber, NONE, put, setText } from "./manager-dom.js";
import { stackedBar } from "./manager-charts.js";
import { announce } from "./manager-live.js";
import { noteList } from "./manager-notes.js";
import { DataTable } from "./manager-table.js";
import { DEFAULT_METHODS, METHODS } from "./manager-words.js";

const words = (method) => (Object.hasOwn(METHODS, method) ? METHODS[method] : [method, ""]);

export class Scores {
  constructor(place) {
    this.select = el("select", { id: "score-method", "aria-describedby": "score-line" });
    this.button = el("button", { type: "submit", class: "button primary" }, "Show scores");
    this.line = el("p", { class: "m-help", id: "score-line" });
    this.result = el("div", { class: "m-scores", "aria-busy": "false" });
    const form = el(
      "form",
      { class: "m-row" },
      el("div", { class: "field" }, el("label", { for: "score-method" }, "Method"), this.select),
      this.button,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      busy(this.button, () => this.#show());
    });
    const start = el(
      "p",
      {},
      "Choose a method. Every table names the choices it was made with, and what it leaves out.",
    );
    put(this.result, el("div", { class: "m-empty" }, start));
    this.select.addEventListener("change", () => this.#explain());
    put(place, form, this.line, this.result);
  }

  update(study) {
    if (this.select.options.length) return;
    put(
      this.select,
      (study.methods ?? DEFAULT_METHODS).map((value) => el("option", { value }, words(value)[0])),
    );
    this.#explain();
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
    } catch (error) {
      const notYet = error.status === 409;
      const hint = el("p", {}, el("strong", {}, "Not possible yet. "), error.message);
      put(this.result, notYet ? el("div", { class: "m-empty" }, hint) : errorBox(error));
    } finally {
      this.result.setAttribute("aria-busy", "false");
    }
  }
}

function scoreTable({ signature, notes = [], measures, systems }) {
  const best = measures[0];
  const ranks = ranking(systems, best);
  const columns = [
    { id: "rank", title: "Rank", kind: "rank", first: "ascending", value: (row) => ranks.get(row.system) ?? null },
    { id: "system", title: "System", header: true, value: (row) => row.system },
    ...measures.map((measure) => {
      const value = (row) => (isNumber(row[measure]) ? row[measure] : null);
      const most = Math.max(1, ...systems.map((row) => value(row) ?? 0));
      const cell = (row) => scoreCell(value(row), most);
      return { id: `measure ${measure}`, title: measure, kind: "bar", first: "descending", value, cell };
    }),
  ];
  const table = new DataTable({
    caption: `Systems by ${best}`,
    columns,
    key: (row) => row.system,
    sort: { by: `measure ${best}`, direction: "descending" },
    page: 50,
    noun: "system",
    plain: measures.length === 1,
    empty: el("p", {}, "No system could be scored; the notes say why."),
  });
  table.update(systems);
  return [
    table.node,
    el("h3", {}, "Signature"),
    el("code", { class: "m-signature", tabindex: "0" }, String(signature)),
    noteList(notes, { none: "No notes: nothing was missing or left out." }),
  ];
}

/** 1, 2, 2, 4: equal scores share a rank, undefined ones have none. */
function ranking(systems, measure) {
  const values = systems.map((row) => row[measure]).filter(isNumber);
  return new Map(
    systems
      .filter((row) => isNumber(row[measure]))
      .map((row) => [row.system, 1 + values.filter((value) => value > row[measure]).length]),
  );
}

function scoreCell(value, most) {
  if (value === null) return el("span", { title: "Not defined; see the notes" }, NONE);
  const size = Math.max(0, value / most);
  return el("div", { class: "m-score" }, el("span", {}, fixed(value, most > 1 ? 2 : 3)), stackedBar([["done", size]]));
}
