// What one worker has answered, in a dialog; each answer can be approved, rejected or asked of somebody else.

import { errorBox, get, path, post } from "./manager-api.js";
import { count, duration, el, isNumber, name, NONE, plural, put, when } from "./manager-dom.js";
import { ask, openDialog } from "./manager-dialog.js";
import { announce, say } from "./manager-live.js";
import { flagList, statusLines, workerSummary } from "./manager-person.js";
import { DataTable } from "./manager-table.js";
import { ANSWER_ACTIONS, done } from "./manager-words.js";

const ATTENTION = "attention-check";

export class WorkerAnswers {
  constructor(row, { campaign, manager, refresh, decide, onClose }) {
    Object.assign(this, { campaign, manager, refresh, worker: row.worker });
    this.head = el("div", { class: "m-worker-head" });
    this.place = el("div", { class: "m-answers" }, el("p", { class: "m-help" }, "Loading …"));
    this.heard = el("p", { class: "visually-hidden", role: "status" });
    const reload = () => this.#load();
    const act =
      manager &&
      el("button", { type: "button", class: "button", onclick: () => decide(reload) }, "Decide about this worker …");
    const content = el("div", { class: "m-dialog-content" }, this.head, act, this.place, this.heard);
    openDialog({ title: ["Answers of ", name(row.worker)], wide: true, onClose }, content);
    this.update(row);
    this.#load();
  }

  /** What the campaign page knows about this worker now. */
  update(row) {
    const shown = JSON.stringify(row);
    if (!row || this.shown === shown) return;
    this.shown = shown;
    put(
      this.head,
      el("p", { class: "m-help" }, workerSummary(row)),
      statusLines(row),
      row.flags.length > 0 && flagList(row.flags),
    );
  }

  async #load() {
    try {
      const address = path`/api/manage/campaigns/${this.campaign}/answers?worker=${this.worker}`;
      this.#show((await get(address)).answers);
    } catch (error) {
      put(this.place, errorBox(error, "The answers cannot be shown"));
      this.table = null;
    }
  }

  #show(answers) {
    if (!this.table) {
      this.table = new DataTable({
        caption: `Answers of ${this.worker}`,
        noun: "answer",
        key: (row) => row.id,
        sort: { by: "submitted", direction: "descending" },
        page: 20,
        filter: (row) => [row.task, row.topic, row.system, row.decision, JSON.stringify(row.answer)].join(" "),
        columns: this.#columns(),
        empty: el("p", {}, "This worker has no answers in this campaign."),
      });
      put(this.place, this.table.node);
    }
    this.table.update(answers);
  }

  #columns() {
    const columns = [
      {
        id: "task",
        title: "Task",
        header: true,
        value: (row) => row.task,
        cell: (row) => [
          name(row.task),
          el("span", { class: "m-line m-help" }, name([row.topic, row.system].filter(Boolean).join(" · "))),
        ],
      },
      {
        id: "answer",
        title: "Answer",
        kind: "wide",
        sortable: false,
        value: (row) => row.answer,
        watch: ({ answer, labels }) => [answer, labels],
        cell: answerView,
      },
      {
        id: "seconds",
        title: "Time",
        kind: "number",
        value: (row) => row.seconds,
        cell: (row) => duration(row.seconds),
      },
      {
        id: "submitted",
        title: "Submitted",
        kind: "when",
        first: "descending",
        value: (row) => row.submitted,
        cell: (row) => when(row.submitted),
      },
      {
        id: "status",
        title: "Status",
        value: (row) =>
          statusOf(row)
            .map(([text]) => text)
            .join(" "),
        cell: (row) =>
          el(
            "span",
            { class: "m-badges" },
            statusOf(row).map(([text, tone]) => el("span", { class: `badge ${tone}` }, text)),
          ),
      },
    ];
    if (!this.manager) return columns;
    const tools = {
      id: "tools",
      title: "What you can do",
      hideTitle: true,
      kind: "tools",
      sortable: false,
      value: (row) => [row.state, row.decision, row.counted, row.removed, row.told],
      cell: (row) => this.#tools(row),
    };
    return [...columns, tools];
  }

  #tools(row) {
    if (row.state !== "submitted") return null;
    if (row.removed === "withdrawn") return null;
    const useful = {
      approve: row.decision !== "approve" && row.told !== "reject",
      reject: row.decision !== "reject" && row.told !== "approve",
      reopen: row.counted,
      restore: !row.counted && row.told !== "reject",
    };
    const button = (action) =>
      el(
        "button",
        { type: "button", class: "button small", onclick: () => this.#ask(row, action) },
        ANSWER_ACTIONS[action].title,
        el("span", { class: "visually-hidden" }, ` ${row.task}`),
      );
    return el(
      "div",
      { class: "m-tools" },
      Object.keys(useful)
        .filter((action) => useful[action])
        .map(button),
    );
  }

  #ask(row, action) {
    const { title, help, danger } = ANSWER_ACTIONS[action];
    ask({
      title: [`${title} the answer to `, name(row.task), "?"],
      intro: el("p", {}, help),
      confirm: title,
      danger,
      run: async ({ reason }) => {
        const { notes } = await post(path`/api/manage/assignments/${row.id}/review`, { action, reason });
        const more = notes.map((note) => ` ${note.where}: ${note.what}.`).join("");
        this.heard.textContent = `The answer to ${row.task} is ${done(action)}.${more}`;
        if (more) say(this.heard.textContent);
        announce(this.heard.textContent);
        await Promise.all([this.refresh(), this.#load()]);
      },
    });
  }
}

function statusOf({ state, counted, decision, removed }) {
  if (state === "leased") return [["in work", ""]];
  if (state === "returned") return [["given back", ""]];
  const found = [counted ? ["counted", ""] : ["not counted", "warn"]];
  if (decision) found.push([done(decision), decision === "approve" ? "good" : "bad"]);
  if (removed === "reopened") found.push(["re-opened", "warn"]);
  return found;
}

// -- an answer in readable form ------------------------------------------------------------------------------

const WINNERS = { first: "the first is better", second: "the second is better", tie: "no difference" };

function answerView({ answer, labels }) {
  if (!answer) return el("span", { class: "m-help" }, NONE);
  const { units, aspects, winner, statements, comment, pasted, ...rest } = answer;
  return el(
    "div",
    { class: "m-answer" },
    statements &&
      el(
        "ol",
        {},
        statements.map((text) => el("li", {}, el("bdi", {}, String(text)))),
      ),
    units && unitsView(units, labels ?? {}),
    aspects && ratingsView(aspects),
    winner && el("p", {}, Object.hasOwn(WINNERS, winner) ? WINNERS[winner] : String(winner)),
    comment && el("blockquote", { dir: "auto" }, String(comment)),
    pasted?.length > 0 &&
      el(
        "details",
        {},
        el("summary", {}, `${plural(pasted.length, "text")} pasted`),
        el(
          "ul",
          {},
          pasted.map((text) => el("li", {}, el("bdi", {}, String(text)))),
        ),
      ),
    Object.keys(rest).length > 0 && el("pre", {}, JSON.stringify(rest, null, 1)),
  );
}

/** Units by their texts where the server sends `labels`, by their ids otherwise. */
function unitsView(units, labels) {
  const entries = Object.entries(units).filter(([unit]) => unit !== ATTENTION);
  const present = entries.filter(([, value]) => value === 1).length;
  const word = (value) => (value === 1 ? "present" : value === 0 ? "not present" : "no answer");
  const text = (unit) => (Object.hasOwn(labels, unit) ? labels[unit] : unit);
  const item = ([unit, value]) =>
    el("li", {}, name(text(unit)), el("span", { class: `badge ${value === 1 ? "good" : ""}` }, word(value)));
  return el(
    "details",
    {},
    el("summary", {}, `${count(present)} of ${count(entries.length)} present`),
    el("ul", { class: "m-unit-answers" }, entries.map(item)),
    Object.hasOwn(units, ATTENTION) && el("p", { class: "m-help" }, `Attention check: ${word(units[ATTENTION])}`),
  );
}

function ratingsView(aspects) {
  const item = ([aspect, value]) =>
    el("div", {}, el("dt", {}, name(aspect)), el("dd", {}, isNumber(value) ? String(value) : NONE));
  return el("dl", { class: "m-ratings" }, Object.entries(aspects).map(item));
}
