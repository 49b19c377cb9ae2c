// @ts-check
// What the pages call things, and what follows for them: kinds of campaigns, states, settings, decisions, next steps.

import { el, name } from "../shared/dom.js";

/**
 * @typedef {{ submitted: number, wanted: number, leased: number, surplus: number, tasks: number,
 *   tasks_full: number }} Progress
 * @typedef {{ name: string, kind: string, state: string, progress: Progress, simulated?: boolean }} Campaign
 * @typedef {Record<string, number>} Counts
 * @typedef {{ counts: Counts, campaigns: Campaign[], topics: { id: string, title: string }[],
 *   systems: string[], methods: string[], blind?: boolean, simulated?: boolean }} Study what /api/manage says
 */

/** @type {Record<string, { title: string, line: string, paper: string }>} */
export const KINDS = {
  write: {
    title: "Write",
    line: "Workers read a reference and write short statements, which become the units of a crowd pyramid.",
    paper: "Shapira et al. 2019",
  },
  judge: {
    title: "Judge",
    line: "Workers read a system’s summary and say of each unit whether the summary expresses it.",
    paper: "Shapira et al. 2019",
  },
  rate: {
    title: "Rate",
    line: "Workers read one or two references and a summary, and rate the summary on scales.",
    paper: "Gillick and Liu 2010",
  },
  compare: {
    title: "Compare",
    line: "Workers read two summaries of one topic and say which is better.",
    paper: "Gillick and Liu 2010",
  },
};

/** @param {string} kind */
export const kindTitle = (kind) => (Object.hasOwn(KINDS, kind) ? KINDS[kind].title : kind);

/** @type {Record<string, [title: string, tone: string]>} */
const STATES = {
  running: ["Running", "good"],
  paused: ["Paused", "warn"],
  closed: ["Closed", ""],
  draft: ["Draft", "warn"],
};

/** Nobody has begun, and nobody can while it is paused. @param {Pick<Campaign, "state" | "progress">} campaign */
export const isDraft = ({ state, progress }) =>
  state === "paused" &&
  ["submitted", "surplus", "leased", "returned", "rejected", "withdrawn", "reopened"].every(
    (what) => !(/** @type {Record<string, number>} */ (progress)[what]),
  );

/** @param {string} state */
export function statePill(state) {
  const [title, tone] = Object.hasOwn(STATES, state) ? STATES[state] : [state, ""];
  return el("span", { class: `badge ${tone}` }, title);
}

/** @param {string} kind */
export const kindPill = (kind) => el("span.badge", kindTitle(kind));

/** What a rehearsal made up says so wherever it is shown. */
export const simulatedPill = () => el("span.badge.warn", "simulated");

// -- what a study needs, and what comes next -----------------------------------------------------------------

const NO_SUMMARIES = "The study has no summaries of systems yet: add some under “Texts” first.";

/** Why a campaign of a kind cannot be planned yet; "" if it can. @param {string} kind @param {Counts} counts */
export function missingFor(kind, counts) {
  if (kind === "write")
    return counts.references ? "" : "The study has no references yet: add some under “Texts” first.";
  if (kind === "compare") return counts.systems > 1 ? "" : "Comparing needs at least two systems.";
  if (!counts.peers) return NO_SUMMARIES;
  if (kind === "rate" || counts.units) return "";
  return "There are no units to judge yet: run a writing campaign and make units from it, or add a pyramid under “Texts”.";
}

/** The kind of campaign that usually comes next. @param {Pick<Study, "counts" | "campaigns">} study */
export function suggestKind({ counts, campaigns }) {
  /** @param {string} kind */
  const has = (kind) => campaigns.some((campaign) => campaign.kind === kind);
  if (counts.units && !has("judge")) return "judge";
  return has("write") ? "judge" : "write";
}

/** @param {Campaign} campaign */
const isComplete = ({ progress }) => progress.wanted > 0 && progress.submitted >= progress.wanted;

/**
 * What a manager should do next: `about` a campaign, at an address, or by planning one; null for nothing.
 * @param {Pick<Study, "counts" | "campaigns">} study
 * @returns {{ key: string, about?: string, href?: string, text: string, link: string } | null}
 */
export function nextStep({ counts, campaigns }) {
  const link = "Plan a campaign";
  if (!counts.references && !counts.peers)
    return { key: "texts", href: "/manage/texts", text: "add the texts of the study.", link: "Add texts" };
  const draft = campaigns.find(isDraft);
  if (draft) {
    const text = " is a draft: look at it as a worker, then open it.";
    return { key: `open ${draft.name}`, about: draft.name, text, link: "Open it" };
  }
  if (!campaigns.length && counts.units)
    return { key: "first judge", text: "there are units, so summaries can be judged.", link };
  if (!campaigns.length) return { key: "first write", text: "let workers write units from the references.", link };
  const written = campaigns.find((campaign) => campaign.kind === "write" && isComplete(campaign));
  if (written && !counts.units) {
    const text = " is complete: make units from what was written.";
    return { key: `units ${written.name}`, about: written.name, text, link: "Make units" };
  }
  if (counts.units && !campaigns.some((campaign) => campaign.kind === "judge")) {
    return { key: "judge", text: "the units are there, so summaries can be judged.", link };
  }
  const full = campaigns.find((campaign) => campaign.state === "running" && isComplete(campaign));
  if (!full) return null;
  const text = " has all its answers: check flagged workers, then close it.";
  return { key: `close ${full.name}`, about: full.name, text, link: "Open it" };
}

// -- scores --------------------------------------------------------------------------------------------------

/** @type {Record<string, [title: string, line: string]>} */
export const METHODS = {
  lite: [
    "Lightweight Pyramid",
    "The share of the crowd’s units that a summary expresses, by majority of careful workers.",
  ],
  pyramid: ["Pyramid", "Weighted units, judged by experts."],
  responsiveness: ["Responsiveness", "The mean of people’s ratings on each scale."],
  rouge: ["ROUGE", "Overlap of words with the references; needs no people."],
  auto: ["Automatic pyramid", "A model finds the units in the references and judges every summary; needs no people."],
};

/** The methods that are installed, those with words of their own first. @param {string[]} installed */
export function orderMethods(installed) {
  const known = Object.keys(METHODS).filter((method) => installed.includes(method));
  return [...known, ...installed.filter((method) => !known.includes(method))];
}

// -- decisions -----------------------------------------------------------------------------------------------

/** @typedef {{ title: string, help: string, confirm?: string, danger?: boolean, amount?: boolean }} Action */

/** @type {Record<string, Action>} */
export const WORKER_ACTIONS = {
  exclude: {
    title: "Exclude from scores",
    help: "Their answers no longer count in scores and units. They can go on working.",
    confirm: "Exclude worker",
    danger: true,
  },
  include: { title: "Include in scores again", help: "Their answers count again.", confirm: "Include worker" },
  block: {
    title: "Block",
    help: "They get no more tasks and lose the one they are working on. Their submitted answers stay as they are.",
    confirm: "Block worker",
    danger: true,
  },
  "block-remove": {
    title: "Block and remove their answers",
    help: "They get no more tasks. All their answers to this campaign are rejected, and other workers get the tasks.",
    confirm: "Block and remove",
    danger: true,
  },
  unblock: { title: "Unblock", help: "They can take tasks again.", confirm: "Unblock worker" },
  approve: {
    title: "Approve all work",
    help: "All their answers to this campaign that are not decided yet will be paid.",
    confirm: "Approve all",
  },
  reject: {
    title: "Reject all work",
    help:
      "All their answers to this campaign that are not decided yet are rejected: they are not paid and count in no " +
      "score, and other workers get the tasks. The answers are kept.",
    confirm: "Reject all",
    danger: true,
  },
  bonus: { title: "Pay a bonus", help: "An amount on top of their pay.", confirm: "Record bonus", amount: true },
};

/** @type {Record<string, Action>} */
export const ANSWER_ACTIONS = {
  approve: {
    title: "Approve",
    help: "This answer will be paid. If it was rejected, it counts again unless somebody else has taken its place.",
  },
  reject: {
    title: "Reject",
    help: "This answer is not paid and counts in no score, and somebody else gets the task. The answer is kept.",
    danger: true,
  },
  reopen: {
    title: "Re-open",
    help: "This answer no longer counts in any score, and somebody else gets the task. It can still be paid.",
    danger: true,
  },
  restore: {
    title: "Restore",
    help: "This answer counts again, unless somebody else has taken its place: then it is kept as surplus.",
  },
};

/** @type {Record<string, string>} */
const DONE = {
  approve: "approved",
  reject: "rejected",
  exclude: "excluded",
  include: "included",
  block: "blocked",
  unblock: "unblocked",
  bonus: "bonus",
  reopen: "re-opened",
  restore: "restored",
  unapprove: "undecided again",
  withdraw: "withdrawn",
  "request-return": "asked to return",
  "block-remove": "blocked, answers removed",
  "tell-approve": "platform told: approved",
  "tell-reject": "platform told: rejected",
  "tell-failed": "platform not told",
  "tell-unknown": "platform may not know",
};

/** @param {string} action */
export const done = (action) => (Object.hasOwn(DONE, action) ? DONE[action] : action);

const GOOD = ["approve", "include", "unblock", "bonus", "restore", "tell-approve"];

/** @param {string} action */
export const actionPill = (action) =>
  el("span", { class: `badge ${GOOD.includes(action) ? "good" : "bad"}` }, done(action));
