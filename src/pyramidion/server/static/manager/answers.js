// @ts-check
// What one worker has answered, in a dialog; each answer can be compared, approved, rejected or asked of somebody else.

import { get, path, post } from "../shared/api.js";
import { ask, openDialog } from "../shared/dialog.js";
import { button, el, name, put } from "../shared/dom.js";
import { duration, when } from "../shared/format.js";
import { announce, errorBox, say, sentence } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { answerView } from "./answer-view.js";
import { comparison } from "./comparison.js";
import { about, badge, flagList, statusLines, workerSummary } from "./people.js";
import { ANSWER_ACTIONS, done } from "./words.js";

/** @import { Problem } from "../shared/api.js" */
/** @import { Column } from "../shared/table.js" */
/** @import { Page, Worker } from "./people.js" */
/**
 * @typedef {{ id: number, task: string, topic: string, system: string, state: string, counted: boolean,
 *   decision: string | null, removed: string | null, told: string | null, answer: any, labels?: Record<string,
 *   string>, quotes?: Record<string, string[]> }} Answer one assignment of a worker
 */

export class WorkerAnswers {
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
    const agreed = row.agreed !== null && el("p.m-help", "Agreed to take part: ", when(row.agreed));
    const flags = row.flags.length > 0 && flagList(row.flags);
    put(this.head, el("p.m-help", workerSummary(row)), agreed, statusLines(row), flags);
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
        watch: ({ answer, labels, quotes }) => [answer, labels, quotes],
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
    return [...columns, tools];
  }

  /** @param {Answer} row */
  #tools(row) {
    if (row.state !== "submitted") return null;
    const compare = about("Compare", row.task, () => this.#compare(row));
    if (!this.page.manager || row.removed === "withdrawn") return el("div.m-tools", compare);
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
    return el("div.m-tools", compare, buttons);
  }

  /** @param {Answer} row */
  #compare(row) {
    const content = el("div.m-dialog-content", comparison(this.page.campaign, row));
    openDialog({ title: ["The answer to ", name(row.task)], wide: true }, content);
  }

  /** @param {Answer} row @param {string} action */
  #ask(row, action) {
    const { title, help, danger } = ANSWER_ACTIONS[action];
    ask({
      title: [`${title} the answer to `, name(row.task), "?"],
      intro: [el("p", help), comparison(this.page.campaign, row)],
      wide: true,
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
