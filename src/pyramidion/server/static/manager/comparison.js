// @ts-check
// One answer beside the text it is about, the answers of the others, their majority, and what is known: so that nobody
// is rejected blindly.

import { Places, union } from "../shared/spans.js";
import { get, path } from "../shared/api.js";
import { el, name, put, written } from "../shared/dom.js";
import { count, fixed, isNumber, NONE, plural } from "../shared/format.js";
import { errorBox, itemList } from "../shared/messages.js";
import { quoted } from "./answer-view.js";
import { badge } from "./people.js";

/** @import { Span } from "../shared/spans.js" */
/** @import { Child } from "../shared/dom.js" */
/**
 * @typedef {{ id: string, label: string, low?: number, high?: number }} Question
 * @typedef {{ id: number, worker: string, counted: boolean, answer: any,
 *   quotes: Record<string, string[]> }} Given
 * @typedef {{ task: string, kind: string, topic: { id: string, title: string }, texts: { title: string, text: string }[],
 *   questions: Question[], known: Record<string, number>, answers: Given[] }} TaskData
 */

/** How far a rating may be from the experts' mean. */
const TOLERANCE = 2;

/**
 * What is known about the task of an answer; it loads itself.
 * @param {string} campaign
 * @param {{ id: number, task: string }} row
 */
export function comparison(campaign, row) {
  const place = el("div.m-compared", { "aria-busy": "true" }, el("p.m-help", "Loading the task …"));
  const load = async () => {
    try {
      const data = await get(path`/api/manage/campaigns/${campaign}/task?id=${row.task}`);
      put(place, compared(data, row.id));
    } catch (error) {
      put(place, errorBox(error, "The task cannot be shown"));
    }
    place.setAttribute("aria-busy", "false");
  };
  load();
  return place;
}

/** @param {TaskData} data @param {number} id @returns {Child} */
function compared(data, id) {
  const mine = data.answers.find((given) => given.id === id);
  const others = data.answers.filter((given) => given.id !== id && given.counted);
  const views = { judge: questionTable, rate: questionTable, compare: winners, write: statements };
  const view = views[/** @type {keyof typeof views} */ (data.kind)];
  /** @type {Span[]} */
  const marked = Object.values(mine?.answer.evidence ?? {}).flat();
  return [
    el("p.m-help", name([data.topic.id, data.topic.title].filter(Boolean).join(": "))),
    el(
      "div.m-texts",
      data.texts.map((text, at) => textBox(text, at === 0 ? marked : [])),
    ),
    view?.(data, mine, others),
    comments(data.answers, id),
  ];
}

/** @param {{ title: string, text: string }} about @param {Span[]} marked as the server counts */
const textBox = ({ title, text }, marked) =>
  el(
    "section.m-text",
    el("h3", name(title)),
    el(
      "div.m-text-body",
      { tabindex: "0", role: "group", "aria-label": title },
      marked.length ? underlined(text, marked) : written(text),
    ),
  );

/** @param {string} text @param {Span[]} marked */
function underlined(text, marked) {
  /** @type {Child[]} */
  const pieces = [];
  let from = 0;
  for (const [start, end] of union(new Places(text).toUnits(marked))) {
    pieces.push(text.slice(from, start), el("u.m-marked", text.slice(start, end)));
    from = end;
  }
  return el("div.text", { dir: "auto" }, pieces, text.slice(from));
}

/** Whoever wrote a remark with an answer. @param {Given[]} answers @param {number} id */
function comments(answers, id) {
  const said = answers.filter((given) => given.answer.comment);
  /** @param {Given} given */
  const who = (given) => (given.id === id ? "This answer: " : [name(given.worker), ": "]);
  return (
    said.length > 0 &&
    el(
      "ul.m-remarks",
      said.map((given) => el("li", who(given), written(given.answer.comment))),
    )
  );
}

// -- judging and rating: a row for each question -------------------------------------------------------------

/** @param {Given | undefined} given @param {string} question @returns {number | null} */
export function answerTo(given, question) {
  const value = given?.answer.units?.[question] ?? given?.answer.aspects?.[question];
  return isNumber(value) ? value : null;
}

/** Present if more than half say so, as scores have it: a tie is absent. @param {number[]} values */
export const majority = (values) => (values.length ? Number(values.filter(Boolean).length * 2 > values.length) : null);

/** @param {number[]} values */
const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

/** @param {number | null} value */
const verdict = (value) => (value === 1 ? "present" : value === 0 ? "not present" : NONE);

/** @param {TaskData} data @param {Given | undefined} mine @param {Given[]} others @returns {Child} */
function questionTable({ kind, questions, known }, mine, others) {
  const rows = questions.map((question) => {
    const values = others.map((given) => answerTo(given, question.id)).filter(isNumber);
    const right = Object.hasOwn(known, question.id) ? known[question.id] : null;
    return { question, values, own: answerTo(mine, question.id), right, quotes: mine?.quotes[question.id] };
  });
  const judged = kind === "judge";
  const asked = rows.filter(({ right, own }) => right !== null && own !== null);
  const correct = asked.filter(({ right, own }) =>
    judged ? right === own : Math.abs(Number(right) - Number(own)) <= TOLERANCE,
  );
  const comparable = rows.filter(({ values, right }) => values.length && right === null);
  const agreed = comparable.filter(({ values, own }) => majority(values) === own).length;
  const facts = [
    judged &&
      comparable.length > 0 &&
      `agrees with the majority of the others on ${agreed} of ${plural(comparable.length, "unit")}`,
    asked.length > 0 && `${correct.length} of ${plural(asked.length, "known answer")} right`,
    `${plural(others.length, "other answer")} to this task ${others.length === 1 ? "counts" : "count"}`,
  ];
  const titles = heads(judged);
  const lines = rows.map((row) => questionRow(titles, row, judged ? judgedCells(row) : ratedCells(row)));
  return [
    el("p", el("strong", "This answer: "), facts.filter(Boolean).join("; "), "."),
    el(
      "table.m-small-table.m-questions",
      { role: "table" },
      el("caption.visually-hidden", "This answer, the others and what is known"),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, titles.map(columnHead))),
      el("tbody", { role: "rowgroup" }, lines),
    ),
  ];
}

/** @param {string} title */
const columnHead = (title) => el("th", { scope: "col", role: "columnheader" }, title);

/** @param {boolean} judged */
const heads = (judged) =>
  judged
    ? ["Unit", "This answer", "The others", "Their majority", "Known"]
    : ["Scale", "This answer", "The others", "Their mean", "Experts’ mean"];

/** @typedef {{ question: Question, values: number[], own: number | null, right: number | null,
 *   quotes: string[] | undefined }} Row */

/**
 * Becomes a block on a phone, where each cell says its title; the roles stay those of a table.
 * @param {string[]} titles
 * @param {Row} row
 * @param {Child[]} cells
 */
function questionRow(titles, { question: { label, id, low, high }, quotes }, cells) {
  const scale = isNumber(low) && el("span.m-help", ` (${low} to ${high})`);
  return el(
    "tr",
    { role: "row" },
    el("th", { scope: "row", role: "rowheader" }, el("bdi", label || id), scale, quoted(quotes)),
    cells.map((cell, i) => el("td", { role: "cell", "data-title": titles[i + 1] }, el("span", cell))),
  );
}

/** @param {Row} row @returns {Child[]} */
function judgedCells({ values, own, right }) {
  const most = majority(values);
  const differs = most !== null && own !== null && most !== own;
  return [
    [badge([verdict(own), own === 1 ? "good" : ""]), differs && [" ", badge(["differs", "warn"])]],
    values.length ? `${count(values.filter(Boolean).length)} of ${count(values.length)} say present` : NONE,
    verdict(most),
    right === null ? NONE : [verdict(right), own !== right && [" ", badge(["wrong", "bad"])]],
  ];
}

/** @param {Row} row @returns {Child[]} */
function ratedCells({ values, own, right }) {
  const wrong = right !== null && own !== null && Math.abs(right - own) > TOLERANCE;
  return [
    own === null ? NONE : String(own),
    values.join(", ") || NONE,
    fixed(mean(values), 1),
    right === null ? NONE : [fixed(right, 1), wrong && [" ", badge(["far off", "bad"])]],
  ];
}

// -- comparing and writing -----------------------------------------------------------------------------------

/** @param {TaskData} data @param {Given | undefined} mine @param {Given[]} others @returns {Child} */
function winners({ texts }, mine, others) {
  /** @type {Record<string, string>} */
  const words = {
    first: texts[0]?.title ?? "the first",
    second: texts[1]?.title ?? "the second",
    tie: "no difference",
  };
  /** @param {string} winner */
  const votes = (winner) => others.filter((given) => given.answer.winner === winner).length;
  return el(
    "dl.m-ratings",
    el("div", el("dt", "This answer"), el("dd", name(words[mine?.answer.winner] ?? NONE))),
    Object.keys(words).map((winner) =>
      el("div", el("dt", "The others: ", name(words[winner])), el("dd", `${votes(winner)} of ${others.length}`)),
    ),
  );
}

/** @param {TaskData} _data @param {Given | undefined} mine @param {Given[]} others @returns {Child} */
function statements(_data, mine, others) {
  /** @param {Child} title @param {Given | undefined} given */
  const list = (title, given) =>
    given && el("section.m-text", el("h3", title), itemList(given.answer.statements ?? [], "ol"));
  return el(
    "div.m-texts",
    list("This answer", mine),
    others.map((given) => list(name(given.worker), given)),
  );
}
