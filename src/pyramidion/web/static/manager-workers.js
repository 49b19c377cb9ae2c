// The people of a campaign: flagged ones first, decisions with reasons, and what each has answered.

import { path, post } from "./manager-api.js";
import { count, duration, el, name, plural, put } from "./manager-dom.js";
import { ask } from "./manager-dialog.js";
import { say } from "./manager-live.js";
import { WorkerAnswers } from "./manager-answers.js";
import { agreement, flagList, statusLines } from "./manager-person.js";
import { DataTable } from "./manager-table.js";
import { done, WORKER_ACTIONS } from "./manager-words.js";

export class Workers {
  #answers = null;

  constructor(place, { campaign, manager, refresh }) {
    Object.assign(this, { campaign, manager, refresh });
    const only = el("input", { type: "checkbox", id: "flagged-only" });
    this.table = new DataTable({
      caption: "Workers",
      noun: "worker",
      key: (row) => row.worker,
      sort: { by: "flags", direction: "descending" },
      filter: (row) =>
        [row.worker, ...row.flags.flatMap((flag) => [flag.reason, flag.detail]), ...status(row)].join(" "),
      toolbar: [
        el("label", { class: "m-check", for: "flagged-only" }, only, "Flagged only"),
        manager &&
          el(
            "button",
            { type: "button", class: "button small", onclick: () => this.#approveUnflagged() },
            "Approve all without a flag …",
          ),
      ],
      rowClass: (row) => (row.excluded || row.blocked ? "m-out" : row.flags.length ? "m-flagged" : ""),
      columns: this.#columns(),
      empty: [
        el("p", {}, el("strong", {}, "Nobody has submitted anything yet.")),
        el("p", {}, "Workers appear here with their first answer."),
      ],
    });
    only.addEventListener("change", () => {
      this.table.also = only.checked ? (row) => row.flags.length > 0 : null;
      this.table.refilter();
    });
    put(place, this.table.node);
  }

  update(workers) {
    this.table.update(workers);
    this.#answers?.update(this.table.row(this.#answers.worker));
  }

  #columns() {
    return [
      {
        id: "worker",
        title: "Worker",
        kind: "id",
        header: true,
        value: (row) => row.worker,
        watch: (row) => [row.worker, row.excluded, row.blocked],
        cell: (row) => [name(row.worker), statusLines(row)],
      },
      {
        id: "submitted",
        title: "Answers",
        kind: "number",
        value: (row) => row.submitted,
        watch: (row) => [row.submitted, row.surplus, row.removed],
        cell: (row) => [
          count(row.submitted),
          row.surplus > 0 && el("span", { class: "m-help m-line" }, `${count(row.surplus)} surplus`),
          row.removed > 0 && el("span", { class: "m-help m-line" }, `${count(row.removed)} removed`),
        ],
      },
      {
        id: "seconds",
        title: "Median time",
        kind: "number",
        first: "ascending",
        value: (row) => row.median_seconds,
        cell: (row) => duration(row.median_seconds),
      },
      {
        id: "agreement",
        title: "Agreement",
        kind: "bar",
        first: "ascending",
        value: (row) => row.agreement,
        cell: (row) => agreement(row),
      },
      {
        id: "flags",
        title: "Flags",
        kind: "wide",
        first: "descending",
        value: (row) => row.flags.length * (row.excluded || row.blocked ? 0.1 : 1),
        watch: (row) => row.flags,
        cell: (row) => flagList(row.flags),
      },
      {
        id: "tools",
        title: "What you can do",
        hideTitle: true,
        kind: "tools",
        sortable: false,
        value: (row) => row.worker,
        cell: (row) => this.#tools(row.worker),
      },
    ];
  }

  #tools(worker) {
    const button = (label, act) =>
      el(
        "button",
        { type: "button", class: "button small", onclick: act },
        label,
        el("span", { class: "visually-hidden" }, ` ${worker}`),
      );
    return el(
      "div",
      { class: "m-tools" },
      button("Answers", () => this.#open(worker)),
      this.manager && button("Decide", () => this.decide(worker)),
    );
  }

  /** Ask what should happen with a worker, and why; resolves when the page shows it. */
  decide(worker, then = null) {
    const row = this.table.row(worker);
    if (!row) return;
    const names = ["exclude", "include", "block", "block-remove", "unblock", "approve", "reject", "bonus"].filter(
      (action) => action !== (row.excluded ? "exclude" : "include") && action !== (row.blocked ? "block" : "unblock"),
    );
    ask({
      title: ["Decide about ", name(worker)],
      intro: row.flags.length > 0 && flagList(row.flags),
      choices: names.map((value) => ({ value, ...WORKER_ACTIONS[value] })),
      reasons: row.flags.map((flag) => `${flag.reason}: ${flag.detail}`),
      run: async ({ action, reason, amount }) => {
        const remove = action === "block-remove";
        const decision = remove ? { action: "block", remove_answers: true } : { action };
        const body = { ...decision, reason, amount, campaign: this.campaign };
        const { removed = 0, notes = [] } = await post(path`/api/manage/workers/${worker}/review`, body);
        const effect = removed > 0 ? [`${plural(removed, "answer")} removed from scores`] : [];
        const more = notes.map((note) => `${note.where}: ${note.what}`);
        say(`${worker}: ${[done(action), ...effect, ...more].join(". ")}.`);
        await Promise.all([this.refresh(), then?.()]);
      },
    });
  }

  #approveUnflagged() {
    ask({
      title: "Approve everybody without a flag?",
      intro: el(
        "p",
        {},
        "All their answers to this campaign that are not decided yet. Flagged and excluded workers are left for you.",
      ),
      confirm: "Approve",
      reasons: ["good work"],
      run: async ({ reason }) => {
        const address = path`/api/manage/campaigns/${this.campaign}/approval`;
        const { workers, submissions, left } = await post(address, { reason });
        say(
          `${plural(submissions, "answer")} of ${plural(workers.length, "worker")} approved, ` +
            `${plural(left.length, "worker")} left to decide.`,
        );
        await this.refresh();
      },
    });
  }

  #open(worker) {
    this.#answers = new WorkerAnswers(this.table.row(worker), {
      campaign: this.campaign,
      manager: this.manager,
      refresh: this.refresh,
      decide: (then) => this.decide(worker, then),
      onClose: () => (this.#answers = null),
    });
  }
}

const status = (row) =>
  [row.excluded && `excluded ${row.excluded}`, row.blocked && `blocked ${row.blocked}`].filter(Boolean);
