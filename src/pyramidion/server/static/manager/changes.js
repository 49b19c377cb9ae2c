// @ts-check
// Who changed the study and its campaigns, the newest first.

import { get } from "../shared/api.js";
import { el, name, put } from "../shared/dom.js";
import { count, plural, when } from "../shared/format.js";
import { column, DataTable } from "../shared/table.js";

/** @typedef {{ at: number, actor: string, action: string, campaign: string | null, detail: Record<string, any> }} Change */

/** @type {Record<string, (detail: Record<string, any>) => string>} */
const WORDS = {
  import: ({ files, records }) => `added texts: ${plural(files, "file")}, ${count(records)} new records`,
  create: ({ kind, tasks, draft }) => `created it (${kind}, ${plural(tasks, "task")})${draft ? " as a draft" : ""}`,
  edit: ({ changed }) =>
    `edited it: ${
      Object.entries(changed ?? {})
        .map(edited)
        .join("; ") || "nothing changed"
    }`,
  state: ({ state }) => ({ running: "opened it to workers", paused: "paused it" })[String(state)] ?? "closed it",
  units: ({ kept, edited: words, dropped, restored }) =>
    `stored ${plural(kept, "unit")}; ${words} reworded, ${dropped} dropped, ${restored} restored by hand`,
  unit: ({ topic, before, after }) => `reworded a unit of ${topic}: “${before}” is now “${after}”`,
};

/** @param {[name: string, change: unknown]} part */
const edited = ([what, change]) =>
  Array.isArray(change) ? `${what.replaceAll("_", " ")} ${change[0]} → ${change[1]}` : what;

/** @param {Change} change */
export const changeWords = ({ action, detail }) => (Object.hasOwn(WORDS, action) ? WORDS[action](detail) : action);

export class Changes {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.table = new DataTable({
      caption: "Changes",
      noun: "change",
      key: (row) => row.key,
      sort: { by: "When", direction: "descending" },
      page: 10,
      columns: [
        column("When", (row) => row.at, { kind: "when", cell: (row) => when(row.at) }),
        column("Who", (row) => row.actor, { cell: (row) => name(row.actor) }),
        column("Campaign", (row) => row.campaign ?? "", { cell: (row) => (row.campaign ? name(row.campaign) : "") }),
        column("What", changeWords, { kind: "wide", header: true, cell: (row) => el("bdi", changeWords(row)) }),
      ],
      empty: el("p", "Nothing was changed here yet. What is done on the command line is not listed."),
    });
    put(place, this.table.node);
  }

  async update() {
    /** @type {{ changes: Change[] }} */
    const { changes } = await get("/api/manage/changes");
    this.table.update(
      changes.map((change) => ({ ...change, key: `${change.at} ${change.action} ${change.campaign}` })),
    );
  }
}
