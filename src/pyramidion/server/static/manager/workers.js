// @ts-check
// The people of a campaign: flagged ones first, decisions with reasons, and what each has answered.

import { get, path, post } from "../shared/api.js";
import { ask, openDialog } from "../shared/dialog.js";
import { button, el, name, put } from "../shared/dom.js";
import { count, duration, isNumber, NONE, plural, when } from "../shared/format.js";
import { announce, errorBox, itemList, say, sentence } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { stackedBar } from "./charts.js";
import { ANSWER_ACTIONS, done, WORKER_ACTIONS } from "./words.js";

/** @import { Problem } from "../shared/api.js" */
/** @import { Column } from "../shared/table.js" */
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
 *
 * @typedef {{ id: number, task: string, topic: string, system: string, state: string, counted: boolean,
 *   decision: string | null, removed: string | null, told: string | null, answer: any, labels?: Record<string,
 *   string> }} Answer one assignment of a worker
 */

export class Workers {
  /** @type {WorkerAnswers | null} */
  #answers = null;

  /** @param {HTMLElement} place @param {Page} page */
  constructor(place, page) {
    this.page = page;
    const only = el("input", { type: "checkbox", id: "flagged-only" });
    this.table = new DataTable({
      caption: "Workers",
      noun: "worker",
      key: (row) => row.worker,
      sort: { by: "Flags", direction: "descending" },
      filter: searchText,
      toolbar: [
        el("label.m-check", { for: "flagged-only" }, only, "Flagged only"),
        page.manager && button("Approve all without a flag …", () => this.#approveUnflagged(), "small"),
      ],
      rowClass: (row) => (row.excluded || row.blocked ? "m-out" : row.flags.length ? "m-flagged" : ""),
      columns: this.#columns(),
      empty: [
        el("p", el("strong", "Nobody has submitted anything yet.")),
        el("p", "Workers appear here with their first answer."),
      ],
    });
    only.addEventListener("change", () => {
      this.table.also = only.checked ? (row) => row.flags.length > 0 : null;
      this.table.refilter();
    });
    put(place, this.table.node);
  }

  /** @param {Worker[]} workers */
  update(workers) {
    this.table.update(workers);
    this.#answers?.update(this.table.row(this.#answers.worker));
  }

  /** @returns {Column[]} */
  #columns() {
    return [
      column("Worker", (row) => row.worker, {
        kind: "id",
        header: true,
        watch: (row) => [row.worker, row.excluded, row.blocked],
        cell: (row) => [name(row.worker), statusLines(row)],
      }),
      column("Answers", (row) => row.submitted, {
        kind: "number",
        watch: (row) => [row.submitted, row.surplus, row.removed],
        cell: (row) => [
          count(row.submitted),
          row.surplus > 0 && el("span.m-help.m-line", `${count(row.surplus)} surplus`),
          row.removed > 0 && el("span.m-help.m-line", `${count(row.removed)} removed`),
        ],
      }),
      column("Median time", (row) => row.median_seconds, {
        kind: "number",
        first: "ascending",
        cell: (row) => duration(row.median_seconds),
      }),
      column("Agreement", (row) => row.agreement, { kind: "bar", first: "ascending", cell: (row) => agreement(row) }),
      column("Flags", (row) => row.flags.length * (row.excluded || row.blocked ? 0.1 : 1), {
        kind: "wide",
        first: "descending",
        watch: (row) => row.flags,
        cell: (row) => flagList(row.flags),
      }),
      column("What you can do", (row) => row.worker, {
        hideTitle: true,
        kind: "tools",
        sortable: false,
        cell: (row) => this.#tools(row.worker),
      }),
    ];
  }

  /** @param {string} worker */
  #tools(worker) {
    const open = about("Answers", worker, () => this.#open(worker));
    return el("div.m-tools", open, this.page.manager && about("Decide", worker, () => this.decide(worker)));
  }

  /**
   * Ask what should happen with a worker, and why; then the page shows it.
   * @param {string} worker
   * @param {() => Promise<void>} [then]
   */
  decide(worker, then) {
    /** @type {Worker | undefined} */
    const row = this.table.row(worker);
    if (!row) return;
    const useless = [row.excluded ? "exclude" : "include", row.blocked ? "block" : "unblock"];
    const names = Object.keys(WORKER_ACTIONS).filter((action) => !useless.includes(action));
    ask({
      title: ["Decide about ", name(worker)],
      intro: row.flags.length > 0 && flagList(row.flags),
      choices: names.map((value) => ({ value, ...WORKER_ACTIONS[value] })),
      reasons: row.flags.map((flag) => `${flag.reason}: ${flag.detail}`),
      run: async ({ action, reason, amount }) => {
        const remove = action === "block-remove";
        const decision = remove ? { action: "block", remove_answers: true } : { action };
        const body = { ...decision, reason, amount, campaign: this.page.campaign };
        const { removed = 0, notes = [] } = await post(path`/api/manage/workers/${worker}/review`, body);
        const effect = removed > 0 ? [`${plural(removed, "answer")} removed from scores`] : [];
        say(`${worker}: ${[done(String(action)), ...effect, ...notes.map(sentence)].join(". ")}.`);
        await Promise.all([this.page.refresh(), then?.()]);
      },
    });
  }

  #approveUnflagged() {
    const scope =
      "This approves all their answers to this campaign that are not decided yet. Flagged and excluded workers are left for you.";
    ask({
      title: "Approve everybody without a flag?",
      intro: el("p", scope),
      confirm: "Approve",
      reasons: ["good work"],
      run: async ({ reason }) => {
        const address = path`/api/manage/campaigns/${this.page.campaign}/approval`;
        const { workers, submissions, left } = await post(address, { reason });
        const approved = `${plural(submissions, "answer")} of ${plural(workers.length, "worker")} approved`;
        say(`${approved}, ${plural(left.length, "worker")} left to decide.`);
        await this.page.refresh();
      },
    });
  }

  /** @param {string} worker */
  #open(worker) {
    this.#answers = new WorkerAnswers(this.table.row(worker), this.page, {
      decide: (then) => this.decide(worker, then),
      onClose: () => {
        this.#answers = null;
      },
    });
  }
}

/** @param {Worker} row */
function searchText({ worker, flags, excluded, blocked }) {
  const out = [excluded && `excluded ${excluded}`, blocked && `blocked ${blocked}`];
  return [worker, ...flags.flatMap((flag) => [flag.reason, flag.detail]), ...out].filter(Boolean).join(" ");
}

/**
 * A button in a row, which says to screen readers what it is about.
 * @param {string} label @param {string} row @param {() => void} act
 */
const about = (label, row, act) => button([label, el("span.visually-hidden", ` ${row}`)], act, "small");

// -- what one worker has answered, in a dialog; each answer can be approved, rejected or asked of somebody else --

const ATTENTION = "attention-check";

class WorkerAnswers {
  #shown = "";
  /** @type {DataTable | null} */
  #table = null;

  /**
   * @param {Worker} row
   * @param {Page} page
   * @param {{ decide: (then: () => Promise<void>) => void, onClose: () => void }} hooks
   */
  constructor(row, page, { decide, onClose }) {
    this.page = page;
    this.worker = row.worker;
    this.head = el("div.m-worker-head");
    this.place = el("div.m-answers", el("p.m-help", "Loading …"));
    this.heard = el("p.visually-hidden", { role: "status" });
    const reload = () => this.#load();
    const act = page.manager && button("Decide about this worker …", () => decide(reload));
    const content = el("div.m-dialog-content", this.head, act, this.place, this.heard);
    openDialog({ title: ["Answers of ", name(row.worker)], wide: true, onClose }, content);
    this.update(row);
    this.#load();
  }

  /** What the campaign page knows about this worker now. @param {Worker | undefined} row */
  update(row) {
    const shown = JSON.stringify(row);
    if (!row || this.#shown === shown) return;
    this.#shown = shown;
    put(this.head, el("p.m-help", workerSummary(row)), statusLines(row), row.flags.length > 0 && flagList(row.flags));
  }

  async #load() {
    try {
      const address = path`/api/manage/campaigns/${this.page.campaign}/answers?worker=${this.worker}`;
      this.#show((await get(address)).answers);
    } catch (error) {
      put(this.place, errorBox(error, "The answers cannot be shown"));
      this.#table = null;
    }
  }

  /** @param {Answer[]} answers */
  #show(answers) {
    if (!this.#table) {
      this.#table = new DataTable({
        caption: `Answers of ${this.worker}`,
        noun: "answer",
        key: (row) => row.id,
        sort: { by: "Submitted", direction: "descending" },
        page: 20,
        filter: (row) => [row.task, row.topic, row.system, row.decision, JSON.stringify(row.answer)].join(" "),
        columns: this.#columns(),
        empty: el("p", "This worker has no answers in this campaign."),
      });
      put(this.place, this.#table.node);
    }
    this.#table.update(answers);
  }

  #columns() {
    /** @type {Column[]} */
    const columns = [
      column("Task", (row) => row.task, {
        header: true,
        cell: (row) => [
          name(row.task),
          el("span.m-line.m-help", name([row.topic, row.system].filter(Boolean).join(" · "))),
        ],
      }),
      column("Answer", (row) => row.answer, {
        kind: "wide",
        sortable: false,
        watch: ({ answer, labels }) => [answer, labels],
        cell: answerView,
      }),
      column("Time", (row) => row.seconds, { kind: "number", cell: (row) => duration(row.seconds) }),
      column("Submitted", (row) => row.submitted, {
        kind: "when",
        first: "descending",
        cell: (row) => when(row.submitted),
      }),
      column("Status", (row) => statusOf(row).flat().join(" "), {
        cell: (row) => el("span.m-badges", ...statusOf(row).map(badge)),
      }),
    ];
    /** @type {Column} */
    const tools = column("What you can do", (row) => [row.state, row.decision, row.counted, row.removed, row.told], {
      hideTitle: true,
      kind: "tools",
      sortable: false,
      cell: (row) => this.#tools(row),
    });
    return this.page.manager ? [...columns, tools] : columns;
  }

  /** @param {Answer} row */
  #tools(row) {
    if (row.state !== "submitted" || row.removed === "withdrawn") return null;
    const useful = {
      approve: row.decision !== "approve" && row.told !== "reject",
      reject: row.decision !== "reject" && row.told !== "approve",
      reopen: row.counted,
      restore: !row.counted && row.told !== "reject",
    };
    const offered = Object.entries(useful).filter(([, isUseful]) => isUseful);
    const buttons = offered.map(([action]) =>
      about(ANSWER_ACTIONS[action].title, row.task, () => this.#ask(row, action)),
    );
    return el("div.m-tools", buttons);
  }

  /** @param {Answer} row @param {string} action */
  #ask(row, action) {
    const { title, help, danger } = ANSWER_ACTIONS[action];
    ask({
      title: [`${title} the answer to `, name(row.task), "?"],
      intro: el("p", help),
      confirm: title,
      danger,
      run: async ({ reason }) => {
        const { notes } = await post(path`/api/manage/assignments/${row.id}/review`, { action, reason });
        const more = notes.map((/** @type {Problem} */ note) => ` ${sentence(note)}.`).join("");
        const text = `The answer to ${row.task} is ${done(action)}.${more}`;
        this.heard.textContent = text;
        if (more) say(text);
        announce(text);
        await Promise.all([this.page.refresh(), this.#load()]);
      },
    });
  }
}

/** @param {Answer} row @returns {[text: string, tone: string][]} */
function statusOf({ state, counted, decision, removed }) {
  if (state === "leased") return [["in work", ""]];
  if (state === "returned") return [["given back", ""]];
  /** @type {[string, string][]} */
  const badges = [counted ? ["counted", ""] : ["not counted", "warn"]];
  if (decision) badges.push([done(decision), decision === "approve" ? "good" : "bad"]);
  if (removed === "reopened") badges.push(["re-opened", "warn"]);
  return badges;
}

/** @param {[text: string, tone: string]} about */
const badge = ([text, tone]) => el("span", { class: `badge ${tone}` }, text);

// -- an answer in readable form ------------------------------------------------------------------------------

/** @type {Record<string, string>} */
const WINNERS = { first: "the first is better", second: "the second is better", tie: "no difference" };

/** @param {Answer} row */
function answerView({ answer, labels }) {
  if (!answer) return el("span.m-help", NONE);
  const { units, aspects, winner, statements, comment, pasted, ...rest } = answer;
  return el(
    "div.m-answer",
    statements && itemList(statements, "ol"),
    units && unitsView(units, labels ?? {}),
    aspects && ratingsView(aspects),
    winner && el("p", Object.hasOwn(WINNERS, winner) ? WINNERS[winner] : String(winner)),
    comment && el("blockquote", { dir: "auto" }, String(comment)),
    pasted?.length > 0 && el("details", el("summary", `${plural(pasted.length, "text")} pasted`), itemList(pasted)),
    Object.keys(rest).length > 0 && el("pre", JSON.stringify(rest, null, 1)),
  );
}

/**
 * Units by their texts where the server sends `labels`, by their ids otherwise.
 * @param {Record<string, number | null>} units
 * @param {Record<string, string>} labels
 */
function unitsView(units, labels) {
  const entries = Object.entries(units).filter(([unit]) => unit !== ATTENTION);
  const present = entries.filter(([, value]) => value === 1).length;
  /** @param {number | null} value */
  const word = (value) => (value === 1 ? "present" : value === 0 ? "not present" : "no answer");
  /** @param {[unit: string, value: number | null]} entry */
  const item = ([unit, value]) =>
    el("li", name(Object.hasOwn(labels, unit) ? labels[unit] : unit), badge([word(value), value === 1 ? "good" : ""]));
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

// -- what is known about one worker, in the table of workers and above their answers -------------------------

/** @param {Worker} row */
function statusLines(row) {
  /** @param {string} title @param {string | null} reason */
  const line = (title, reason) =>
    reason && el("span.m-line.m-help", el("span.badge.bad", title), " ", el("bdi", reason));
  return [line("Excluded", row.excluded), line("Blocked", row.blocked)];
}

/** @param {Flag[]} flags */
function flagList(flags) {
  if (!flags.length) return el("span.m-help", "none");
  /** @param {Flag} flag */
  const item = ({ reason, detail }) => el("li", el("span.badge.warn", reason), " ", el("bdi", detail));
  return el("ul.m-flags", flags.map(item));
}

/** The server rounds the number: it knows the least agreement, which rounding must not cross. @param {Worker} row */
function agreement({ agreement: value, agreement_shown: shown }) {
  if (!isNumber(value)) return el("span.m-help", NONE);
  return el("div.m-score", el("span", shown), stackedBar([["done", Math.max(0, value)]]));
}

/** @param {Worker} row */
const workerSummary = (row) =>
  `${plural(row.submitted, "answer")}, median ${duration(row.median_seconds)}, agreement ${row.agreement_shown ?? NONE}`;
