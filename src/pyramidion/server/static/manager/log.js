// @ts-check
// The log of decisions: one row for what was decided at once, with a button that takes it back where that is possible.

import { path, post } from "../shared/api.js";
import { ask } from "../shared/dialog.js";
import { button, el, name } from "../shared/dom.js";
import { fixed, isNumber, plural, when } from "../shared/format.js";
import { say, sentence } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { actionPill, done } from "./words.js";

/** @import { Problem } from "../shared/api.js" */
/** @import { Page } from "./people.js" */
/**
 * @typedef {{ first: number, last: number, at: number, actor: string, action: string, reason: string,
 *   amount: number | null, workers: number, worker: string | null, answers: number, assignment: number | null,
 *   undo: boolean }} Logged the entries from first to last
 */

export class DecisionLog extends DataTable {
  /** @param {Page} page */
  constructor(page) {
    const columns = [
      column("When", (row) => row.at, { kind: "when", first: "descending", cell: (row) => when(row.at) }),
      column("Who", (row) => row.actor),
      column("Decision", (row) => done(row.action), {
        cell: (row) => [actionPill(row.action), isNumber(row.amount) ? ` ${fixed(row.amount)}` : null],
      }),
      column("About", (row) => row.worker ?? "", { watch: subject, cell: subjectView }),
      column("Reason", (row) => row.reason, { kind: "wide", cell: (row) => name(row.reason) }),
    ];
    const tools = column("What you can do", (row) => row.undo, {
      hideTitle: true,
      kind: "tools",
      sortable: false,
      cell: (row) => row.undo && undoButton(row, page),
    });
    super({
      caption: "Decisions",
      noun: "decision",
      key: (row) => row.first,
      sort: { by: "When", direction: "descending" },
      page: 15,
      filter: (row) => [row.actor, row.action, done(row.action), subject(row), row.reason].join(" "),
      columns: page.manager ? [...columns, tools] : columns,
      empty: el("p", "No decision yet. Whatever is decided about workers and answers is listed here, with its reason."),
    });
  }
}

/** @param {Logged} row */
function subject({ worker, workers, answers, assignment }) {
  const who = worker ?? plural(workers, "worker");
  if (!answers) return who;
  return `${who} ${assignment ? `answer ${assignment}` : plural(answers, "answer")}`;
}

/** @param {Logged} row */
const subjectView = ({ worker, workers, answers, assignment }) => [
  worker ? name(worker) : plural(workers, "worker"),
  answers > 0 && el("span.m-help", assignment ? ` answer ${assignment}` : ` ${plural(answers, "answer")}`),
];

/** @param {Logged} row @param {Page} page */
function undoButton(row, page) {
  const about = `${done(row.action)}: ${subject(row)}`;
  const open = () =>
    ask({
      title: "Undo this decision?",
      intro: [
        el("p", el("strong", about), ` (${row.reason})`),
        el(
          "p",
          "What still stands of it is taken back. Answers whose places others have taken since stay out of scores.",
        ),
      ],
      confirm: "Undo",
      reasons: ["decided by mistake"],
      run: async ({ reason }) => {
        const { first, last } = row;
        const { notes } = await post(path`/api/manage/campaigns/${page.campaign}/undo`, { first, last, reason });
        say(["Taken back", ...notes.map((/** @type {Problem} */ note) => sentence(note))].join(". "));
        await page.refresh();
      },
    });
  return el("div.m-tools", button(["Undo", el("span.visually-hidden", ` ${about}`)], open, "small"));
}
