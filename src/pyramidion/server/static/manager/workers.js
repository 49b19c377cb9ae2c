// @ts-check
// The people of a campaign: flagged ones first, decisions with reasons, and what each has answered.

import { path, post } from "../shared/api.js";
import { ask } from "../shared/dialog.js";
import { button, el, name, put } from "../shared/dom.js";
import { count, duration, plural } from "../shared/format.js";
import { say, sentence } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { WorkerAnswers } from "./answers.js";
import { about, agreement, approval, flagList, statusLines, workerSummary } from "./people.js";
import { done, WORKER_ACTIONS } from "./words.js";

/** @import { Column } from "../shared/table.js" */
/** @import { Page, Worker } from "./people.js" */

export class Workers {
  /** The dialogs with answers that are open. @type {Set<WorkerAnswers>} */
  #answers = new Set();

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
    for (const open of this.#answers) open.update(this.table.row(open.worker));
  }

  /** @returns {Column[]} */
  #columns() {
    return [
      column("Worker", (row) => row.worker, {
        kind: "id",
        header: true,
        watch: (row) => [row.worker, row.excluded, row.blocked, row.simulated],
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
      column("Agreement", (row) => row.agreement, {
        kind: "bar",
        first: "ascending",
        watch: (row) => [row.agreement_shown, row.known_right, row.known_asked],
        cell: (row) => agreement(row),
      }),
      column("Approval", (row) => row.undecided, {
        first: "descending",
        watch: ({ approved, rejected, undecided }) => [approved, rejected, undecided],
        cell: (row) => approval(row),
      }),
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
      intro: [
        el("p", workerSummary(row), "."),
        row.flags.length > 0 && flagList(row.flags),
        el(
          "p",
          button("Look at their answers …", () => this.#open(worker), "small"),
        ),
      ],
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
    const open = new WorkerAnswers(this.table.row(worker), this.page, {
      decide: (then) => this.decide(worker, then),
      onClose: () => this.#answers.delete(open),
    });
    this.#answers.add(open);
  }
}

/** @param {Worker} row */
function searchText({ worker, flags, excluded, blocked }) {
  const out = [excluded && `excluded ${excluded}`, blocked && `blocked ${blocked}`];
  return [worker, ...flags.flatMap((flag) => [flag.reason, flag.detail]), ...out].filter(Boolean).join(" ");
}
