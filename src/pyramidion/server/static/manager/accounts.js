// @ts-check
// Who has an account, and where they are logged in. A session can be ended, for instance of a lost laptop.

import { call, get, path } from "../shared/api.js";
import { button, el, name, put } from "../shared/dom.js";
import { count, when } from "../shared/format.js";
import { errorBox, say } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";

/**
 * @typedef {{ name: string, role: string, created: number, sessions: number }} AccountRow
 * @typedef {{ id: string, account: string, role: string, created: number, expires: number, agent: string,
 *   mine: boolean }} SessionRow
 */

export class Accounts {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.trouble = el("div");
    this.accounts = new DataTable({
      caption: "Accounts",
      noun: "account",
      key: (/** @type {AccountRow} */ row) => row.name,
      sort: { by: "Name", direction: "ascending" },
      columns: [
        column("Name", (row) => row.name, { header: true, cell: (row) => name(row.name) }),
        column("Role", (row) => row.role),
        column("Since", (row) => row.created, { kind: "when", cell: (row) => when(row.created) }),
        column("Open sessions", (row) => row.sessions, { kind: "number", cell: (row) => count(row.sessions) }),
      ],
      empty: [],
    });
    this.sessions = new DataTable({
      caption: "Open sessions",
      noun: "session",
      key: (/** @type {SessionRow} */ row) => row.id,
      sort: { by: "Since", direction: "descending" },
      columns: [
        column("Account", (row) => row.account, { header: true, cell: (row) => name(row.account) }),
        column("Since", (row) => row.created, { kind: "when", first: "descending", cell: (row) => when(row.created) }),
        column("Browser", (row) => row.agent, { cell: (row) => name(row.agent || "unknown") }),
        column("End", () => "", { kind: "tools", sortable: false, hideTitle: true, cell: (row) => this.#end(row) }),
      ],
      empty: [],
    });
    put(place, this.trouble, this.accounts.node, this.sessions.node);
  }

  async update() {
    const { accounts, sessions } = await get("/api/manage/accounts");
    this.accounts.update(accounts);
    this.sessions.update(sessions);
  }

  /** @param {SessionRow} row */
  #end(row) {
    if (row.mine) return "this one";
    const end = button("End", () => this.#endNow(row, end), "small");
    end.setAttribute("aria-label", `End the session of ${row.account}`);
    return end;
  }

  /** @param {SessionRow} row @param {HTMLButtonElement} end */
  async #endNow(row, end) {
    end.disabled = true;
    try {
      await call("DELETE", path`/api/manage/sessions/${row.id}`);
      put(this.trouble);
      say(`The session of ${row.account} has ended.`);
      await this.update();
    } catch (error) {
      end.disabled = false;
      put(this.trouble, errorBox(error, "The session was not ended"));
    }
  }
}
