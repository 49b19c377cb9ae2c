// What the pages call things: kinds of campaigns, states, settings, decisions.

import { capital, el } from "./manager-dom.js";

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

export const kindTitle = (kind) => (Object.hasOwn(KINDS, kind) ? KINDS[kind].title : kind);

const STATES = { running: ["Running", "good"], paused: ["Paused", "warn"], closed: ["Closed", ""] };

export function statePill(state) {
  const [title, tone] = Object.hasOwn(STATES, state) ? STATES[state] : [state, ""];
  return el("span", { class: `badge ${tone}` }, title);
}

export const kindPill = (kind) => el("span", { class: "badge" }, kindTitle(kind));

// -- settings ------------------------------------------------------------------------------------------------

const LABELS = {
  workers: "Workers per task",
  statements: "Statements per task",
  units_per_task: "Units per task",
  units_per_topic: "Units per topic",
  pay: "Pay per assignment",
  fee: "Platform fee",
  lease_minutes: "Time for a task (minutes)",
  min_seconds: "Too fast below (seconds)",
  min_agreement: "Least agreement",
  gold_rate: "Known-answer tasks (share)",
  check: "Comprehension check",
  show_progress: "Show progress",
  separate_writers: "Keep writers apart",
  deviation_notice: "Comparison notice",
  most_per_worker: "Most tasks per worker",
  completion_url: "Address when done",
  platform_study: "Platform’s study id",
  seed: "Random seed",
};

/** Settings that matter only to some kinds; the others matter to all. */
const ONLY_FOR = {
  statements: ["write"],
  units_per_task: ["write", "judge"],
  units_per_topic: ["write", "judge"],
  gold_rate: ["judge", "rate"],
  min_agreement: ["judge"],
  separate_writers: ["judge"],
  deviation_notice: ["rate"],
};

const MAIN = ["workers", "statements", "units_per_topic", "units_per_task", "pay", "fee"];

const GROUPS = [
  ["Quality", ["check", "gold_rate", "min_seconds", "min_agreement", "separate_writers"]],
  ["Workers", ["lease_minutes", "most_per_worker", "show_progress", "deviation_notice"]],
  ["Platform and money", ["platform", "platform_study", "completion_url", "completion_code", "currency"]],
];

export const settingLabel = (name) => (Object.hasOwn(LABELS, name) ? LABELS[name] : capital(name.replaceAll("_", " ")));

export const isFor = (name, kind) => !Object.hasOwn(ONLY_FOR, name) || ONLY_FOR[name].includes(kind);

/** Settings in groups: the main ones (title ""), then the advanced ones; whatever is new comes under "More". */
export function settingGroups(settings) {
  const byName = new Map(settings.map((setting) => [setting.name, setting]));
  const take = (names) => names.map((name) => byName.get(name)).filter(Boolean);
  const known = new Set([...MAIN, ...GROUPS.flatMap(([, names]) => names)]);
  const more = settings.filter(({ name }) => !known.has(name));
  return [["", take(MAIN)], ...GROUPS.map(([title, names]) => [title, take(names)]), ["More", more]];
}

export const PLATFORMS = ["local", "prolific", "connect", "simulated"];

// -- scores --------------------------------------------------------------------------------------------------

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
    help: "They get no more tasks and lose the one in work. What they submitted stays as it is.",
    confirm: "Block worker",
    danger: true,
  },
  "block-remove": {
    title: "Block and remove their answers",
    help: "They get no more tasks. All their answers to this campaign are rejected, and other workers get the places.",
    confirm: "Block and remove",
    danger: true,
  },
  unblock: { title: "Unblock", help: "They can take tasks again.", confirm: "Unblock worker" },
  bonus: { title: "Pay a bonus", help: "An amount on top of their pay.", confirm: "Record bonus", amount: true },
  approve: {
    title: "Approve all work",
    help: "Every answer of theirs to this campaign that is not decided yet is to be paid.",
    confirm: "Approve all",
  },
  reject: {
    title: "Reject all work",
    help:
      "Every answer of theirs to this campaign that is not decided yet: not paid, in no score, and other workers get " +
      "the places. Answers are kept.",
    confirm: "Reject all",
    danger: true,
  },
};

export const ANSWER_ACTIONS = {
  approve: { title: "Approve", help: "This answer is to be paid. If it was rejected, it counts again if it can." },
  reject: {
    title: "Reject",
    help: "This answer is not paid and is in no score, and somebody else gets the task. The answer is kept.",
    danger: true,
  },
  reopen: {
    title: "Re-open",
    help: "This answer is in no score any more, and somebody else gets the task. It can still be paid.",
    danger: true,
  },
  restore: {
    title: "Restore",
    help: "This answer counts again, unless somebody else has the place by now: then it is kept as surplus.",
  },
};

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
  withdraw: "withdrawn",
  "block-remove": "blocked, answers removed",
  "tell-approve": "platform told: approved",
  "tell-reject": "platform told: rejected",
  "tell-failed": "platform not told",
  "tell-unknown": "platform may not know",
};

export const done = (action) => (Object.hasOwn(DONE, action) ? DONE[action] : action);

const GOOD = ["approve", "include", "unblock", "bonus", "restore", "tell-approve"];

export const actionPill = (action) =>
  el("span", { class: `badge ${GOOD.includes(action) ? "good" : "bad"}` }, done(action));
