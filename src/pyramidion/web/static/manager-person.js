// What is known about one worker, in small parts: shown in the table of workers and above their answers.

import { duration, el, isNumber, NONE, plural } from "./manager-dom.js";
import { stackedBar } from "./manager-charts.js";

export function statusLines(row) {
  const line = (title, reason) =>
    reason &&
    el("span", { class: "m-line m-help" }, el("span", { class: "badge bad" }, title), " ", el("bdi", {}, reason));
  return [line("Excluded", row.excluded), line("Blocked", row.blocked)];
}

export function flagList(flags) {
  if (!flags.length) return el("span", { class: "m-help" }, "none");
  const item = ({ reason, detail }) =>
    el("li", {}, el("span", { class: "badge warn" }, reason), " ", el("bdi", {}, detail));
  return el("ul", { class: "m-flags" }, flags.map(item));
}

/** The server rounds the number: it knows the least agreement, which rounding must not cross. */
export function agreement({ agreement: value, agreement_shown: shown }) {
  if (!isNumber(value)) return el("span", { class: "m-help" }, NONE);
  return el("div", { class: "m-score" }, el("span", {}, shown), stackedBar([["done", Math.max(0, value)]]));
}

export const workerSummary = (row) =>
  `${plural(row.submitted, "answer")}, median ${duration(row.median_seconds)}, agreement ${row.agreement_shown ?? NONE}`;
