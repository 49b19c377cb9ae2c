// @ts-check
// What the pages call things, and what follows for them: kinds of campaigns, states, settings, decisions, next steps.

import { el, name } from "../shared/dom.js";
import { capital } from "../shared/format.js";

/**
 * @typedef {{ submitted: number, wanted: number, leased: number, surplus: number, tasks: number,
 *   tasks_full: number }} Progress
 * @typedef {{ name: string, kind: string, state: string, progress: Progress, simulated?: boolean }} Campaign
 * @typedef {{ name: string, type: string, help?: string, choices?: string[], default_by_kind: unknown }} Setting
 * @typedef {Record<string, number>} Counts
 * @typedef {{ counts: Counts, campaigns: Campaign[], settings: Setting[], topics: { id: string, title: string }[],
 *   systems: string[], methods?: string[], blind?: boolean }} Study what /api/manage says
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
    line: "Workers read two references and a summary, and rate the summary on scales.",
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
const STATES = { running: ["Running", "good"], paused: ["Paused", "warn"], closed: ["Closed", ""] };

/** @param {string} state */
export function statePill(state) {
  const [title, tone] = Object.hasOwn(STATES, state) ? STATES[state] : [state, ""];
  return el("span", { class: `badge ${tone}` }, title);
}

/** @param {string} kind */
export const kindPill = (kind) => el("span.badge", kindTitle(kind));

/** What a rehearsal made up says so wherever it is shown. */
export const simulatedPill = () => el("span.badge.warn", "simulated");

// -- settings ------------------------------------------------------------------------------------------------

/** @type {Record<string, string>} */
const LABELS = {
  workers: "Workers per task",
  statements: "Statements per task",
  units_per_task: "Units per task",
  units_per_topic: "Units per topic",
  pay: "Pay per assignment",
  fee: "Platform fee",
  lease_minutes: "Time for a task (minutes)",
  min_seconds: "Too fast below (seconds)",
  min_agreement: "Minimum agreement",
  gold_rate: "Known-answer tasks (share)",
  check: "Comprehension check",
  show_progress: "Show progress",
  separate_writers: "Keep writers apart",
  deviation_notice: "Comparison notice",
  most_per_worker: "Maximum tasks per worker",
  completion_url: "Address when done",
  code_after: "Answers needed for the code",
  early_code: "Completion code for stopping early",
  signed_entry: "Only signed links",
  platform_study: "Platform’s study id",
  keep_days: "Erase people’s data after (days)",
  model: "Model that has judged everything",
  share: "Largest share of units to ask",
  until: "Ask in rounds until",
  looks: "Rounds at most",
  budget: "Budget, fee included",
  question: "What intervals are about",
  minutes_per_summary: "Minutes to read a summary",
  minutes_per_unit: "Minutes to judge a unit",
  seed: "Random seed",
};

/** Settings that matter only to some kinds; the others matter to all. @type {Record<string, string[]>} */
const ONLY_FOR = {
  statements: ["write"],
  units_per_task: ["write", "judge"],
  units_per_topic: ["write", "judge"],
  gold_rate: ["judge", "rate"],
  min_agreement: ["judge"],
  separate_writers: ["judge"],
  deviation_notice: ["rate"],
  model: ["judge"],
  share: ["judge"],
  until: ["judge"],
  looks: ["judge"],
  budget: ["judge"],
  question: ["judge"],
  minutes_per_summary: ["judge"],
  minutes_per_unit: ["judge"],
};

const MAIN = ["workers", "statements", "units_per_topic", "units_per_task", "pay", "fee"];

/** @type {[title: string, names: string[]][]} */
const GROUPS = [
  ["Quality", ["check", "gold_rate", "min_seconds", "min_agreement", "separate_writers"]],
  [
    "People and a model",
    ["model", "share", "until", "looks", "budget", "question", "minutes_per_summary", "minutes_per_unit"],
  ],
  ["Workers", ["lease_minutes", "most_per_worker", "show_progress", "deviation_notice", "keep_days"]],
  [
    "Platform and money",
    [
      "platform",
      "platform_study",
      "completion_url",
      "completion_code",
      "code_after",
      "early_code",
      "signed_entry",
      "currency",
    ],
  ],
];

/** @param {string} name */
export const settingLabel = (name) => (Object.hasOwn(LABELS, name) ? LABELS[name] : capital(name.replaceAll("_", " ")));

/** @param {string} name @param {string} kind */
export const isFor = (name, kind) => !Object.hasOwn(ONLY_FOR, name) || ONLY_FOR[name].includes(kind);

/**
 * The default of a setting for a kind of campaign; undefined where that kind does not have it.
 * @param {Setting} setting
 * @param {string} kind
 * @returns {unknown}
 */
export function defaultFor({ default_by_kind: given }, kind) {
  if (given === null || typeof given !== "object") return given;
  return Object.hasOwn(given, kind) ? /** @type {Record<string, unknown>} */ (given)[kind] : undefined;
}

/**
 * Settings in groups: the main ones (title ""), then the advanced ones; whatever is new comes under "More".
 * @param {Setting[]} settings
 * @returns {[title: string, settings: Setting[]][]}
 */
export function settingGroups(settings) {
  const byName = new Map(settings.map((setting) => [setting.name, setting]));
  /** @param {string[]} names */
  const take = (names) => names.flatMap((name) => byName.get(name) ?? []);
  const known = new Set([...MAIN, ...GROUPS.flatMap(([, names]) => names)]);
  const more = settings.filter(({ name }) => !known.has(name));
  return [["", take(MAIN)], ...GROUPS.map(([title, names]) => pair(title, take(names))), ["More", more]];
}

/** @type {(title: string, settings: Setting[]) => [string, Setting[]]} */
const pair = (title, settings) => [title, settings];

export const PLATFORMS = ["local", "prolific", "connect", "simulated"];

// -- what a study needs, and what comes next -----------------------------------------------------------------

const NO_SUMMARIES = "The study has no summaries of systems yet: import some first.";

/** Why a campaign of a kind cannot be planned yet; "" if it can. @param {string} kind @param {Counts} counts */
export function missingFor(kind, counts) {
  if (kind === "write") return counts.references ? "" : "The study has no references yet: import some first.";
  if (kind === "compare") return counts.systems > 1 ? "" : "Comparing needs at least two systems.";
  if (!counts.peers) return NO_SUMMARIES;
  if (kind === "rate" || counts.units) return "";
  return "There are no units to judge yet: run a writing campaign and make units from it, or import a pyramid.";
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
 * What a manager should do next: `about` a campaign, or by planning one where there is none; null for nothing.
 * @param {Pick<Study, "counts" | "campaigns">} study
 * @returns {{ key: string, about?: string, text: string, link: string } | null}
 */
export function nextStep({ counts, campaigns }) {
  const link = "Plan a campaign";
  if (!counts.references && !counts.peers) return null;
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
  pairwise: ["Pairwise", "How often a summary is preferred to another one."],
  rouge: ["ROUGE", "Overlap of words with the references; needs no people."],
};

export const DEFAULT_METHODS = ["lite", "pyramid", "responsiveness", "rouge"];

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
