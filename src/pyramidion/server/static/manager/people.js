// @ts-check
// What is known about one worker, in the table of workers and above their answers.

import { button, el } from "../shared/dom.js";
import { count, duration, isNumber, NONE, plural } from "../shared/format.js";
import { stackedBar } from "./charts.js";
import { simulatedPill } from "./words.js";

/**
 * @typedef {{ reason: string, detail: string }} Flag
 * @typedef {{ campaign: string, manager: boolean, refresh: () => Promise<void> }} Page what the campaign page can do
 *
 * @typedef {object} Worker
 * @property {string} worker
 * @property {number} submitted
 * @property {number} surplus
 * @property {number} removed
 * @property {number | null} median_seconds
 * @property {number | null} agreement
 * @property {string | null} agreement_shown
 * @property {Flag[]} flags
 * @property {string | null} excluded the reason
 * @property {string | null} blocked the reason
 * @property {boolean} simulated
 * @property {number} approved
 * @property {number} rejected
 * @property {number} undecided answers that nobody has approved or rejected yet
 * @property {number | null} agreed when they agreed to take part
 * @property {number} known_right
 * @property {number} known_asked questions whose answer is known
 */

/**
 * A button in a row, which says to screen readers what it is about.
 * @param {string} label @param {string} row @param {() => void} act
 */
export const about = (label, row, act) => button([label, el("span.visually-hidden", ` ${row}`)], act, "small");

/** @param {[text: string, tone: string]} about */
export const badge = ([text, tone]) => el("span", { class: `badge ${tone}` }, text);

/** How far a worker's answers are approved. @param {Worker} row */
export function approval({ approved, rejected, undecided }) {
  return el(
    "span.m-badges",
    approved > 0 && badge([`${count(approved)} approved`, "good"]),
    rejected > 0 && badge([`${count(rejected)} rejected`, "bad"]),
    undecided > 0 && badge([`${count(undecided)} to decide`, ""]),
  );
}

/** @param {Worker} row */
export function statusLines(row) {
  /** @param {string} title @param {string | null} reason */
  const line = (title, reason) =>
    reason && el("span.m-line.m-help", el("span.badge.bad", title), " ", el("bdi", reason));
  return [
    row.simulated && el("span.m-line", simulatedPill()),
    line("Excluded", row.excluded),
    line("Blocked", row.blocked),
  ];
}

/** @param {Flag[]} flags */
export function flagList(flags) {
  if (!flags.length) return el("span.m-help", "none");
  /** @param {Flag} flag */
  const item = ({ reason, detail }) => el("li", el("span.badge.warn", reason), " ", el("bdi", detail));
  return el("ul.m-flags", flags.map(item));
}

/** The server rounds the number: it knows the least agreement, which rounding must not cross. @param {Worker} row */
export function agreement(row) {
  const known = row.known_asked > 0 && el("span.m-help.m-line", knownAnswers(row));
  if (!isNumber(row.agreement)) return [el("span.m-help", NONE), known];
  return [
    el("div.m-score", el("span", row.agreement_shown), stackedBar([["done", Math.max(0, row.agreement)]])),
    known,
  ];
}

/** @param {Worker} row */
const knownAnswers = ({ known_right: right, known_asked: asked }) =>
  `${count(right)} of ${plural(asked, "known answer")} right`;

/** What a decision about all their work rests on. @param {Worker} row */
export const workerSummary = (row) =>
  [
    `${plural(row.submitted, "answer")} (${count(row.undecided)} to decide)`,
    `median ${duration(row.median_seconds)}`,
    `agreement with others ${row.agreement_shown ?? NONE}`,
    row.known_asked > 0 && knownAnswers(row),
  ]
    .filter(Boolean)
    .join(", ");
