// @ts-check
// From a writing campaign to units: what would be kept and what dropped, and why, before anything is stored. Until then
// a manager may reword, drop and restore statements; what follows from that is asked of the server each time.

import { path, post } from "../shared/api.js";
import { ask, openForm } from "../shared/dialog.js";
import { busy, button, byId, el, name, put, setText } from "../shared/dom.js";
import { count, plural } from "../shared/format.js";
import { errorBox, noteList, say } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { labelField } from "./unit-picker.js";

/** @import { CampaignData } from "./campaign.js" */
/** @import { Problem } from "../shared/api.js" */
/** @typedef {{ id: string, label: string, author: string, group: string, topic: string, reason?: string }} Statement */
/**
 * @typedef {{ kept: number, pyramids: { topic: string, units: Statement[] }[], dropped: Statement[], notes: Problem[] }}
 *   Made what was or would be made
 */

/** @param {Statement} unit */
const keyOf = ({ topic, id }) => JSON.stringify([topic, id]);

/** What a manager changes about statements, by topic and id. */
class Edits {
  /** @type {Map<string, { topic: string, unit: string, label: string }>} */
  labels = new Map();
  /** @type {Map<string, [string, string]>} */
  keep = new Map();
  /** @type {Map<string, [string, string]>} */
  drop = new Map();

  /** @param {Statement} unit */
  remove(unit) {
    if (!this.keep.delete(keyOf(unit))) this.drop.set(keyOf(unit), [unit.topic, unit.id]);
  }

  /** @param {Statement} unit */
  restore(unit) {
    if (!this.drop.delete(keyOf(unit))) this.keep.set(keyOf(unit), [unit.topic, unit.id]);
  }

  /** @param {Statement} unit @param {string} label */
  reword(unit, label) {
    this.labels.set(keyOf(unit), { topic: unit.topic, unit: unit.id, label });
  }

  request() {
    return { labels: [...this.labels.values()], keep: [...this.keep.values()], drop: [...this.drop.values()] };
  }
}

export class Units {
  /** @param {HTMLElement} place @param {{ campaign: string }} page */
  constructor(place, { campaign }) {
    this.address = path`/api/manage/campaigns/${campaign}/units`;
    const preview = () => busy(this.button, () => this.#preview());
    this.button = button("Preview units", preview, "primary");
    this.line = el("p");
    this.result = el("div.m-units");
    this.edits = new Edits();
    this.facts = el("dl.m-facts");
    this.notes = el("div");
    this.storing = el("div.actions");
    this.keptTable = statementTable("kept", (unit) => this.#tools(unit));
    this.droppedTable = statementTable("dropped", (unit) => this.#tools(unit));
    put(place, this.line, el("div.actions", this.button, el("span.m-help", "Nothing is stored yet.")), this.result);
  }

  /** @param {CampaignData} data */
  update({ kind, chain, progress, state }) {
    byId("units").hidden = kind !== "write";
    this.button.disabled = !(progress.submitted > 0); // looking at what would be made is always possible
    const missing = progress.wanted - progress.submitted;
    const base =
      "Written statements are filtered (one sentence, sensible length, no repetition), sampled evenly, and grouped for judging.";
    const late = `${plural(missing, "answer")} still missing: units made now leave them out.`;
    const ready = missing <= 0 || state === "closed" ? "" : late;
    const not = progress.submitted > 0 ? "The units are stored." : "This needs at least one answer that counts.";
    setText(this.line, `${base} ${chain?.can_make_units ? ready : not}`.trim());
  }

  async #preview() {
    try {
      this.#show(await post(this.address, { store: false, ...this.edits.request() }));
    } catch (error) {
      put(this.result, errorBox(error, "No units could be made"));
    }
  }

  /** Do something to a statement, and see what follows. @param {string} said @param {() => void} change */
  async #change(said, change) {
    change();
    await this.#preview();
    say(said);
  }

  /** @param {Made} made */
  #show({ kept, pyramids, dropped, notes }) {
    const units = pyramids.flatMap(({ topic, units: list }) => list.map((unit) => ({ ...unit, topic })));
    const sampled = units.filter((unit) => unit.group).length;
    const others = notes.filter((note) => !/^dropped\b/.test(note.what ?? ""));
    if (!this.keptTable.node.isConnected) this.#lay(kept);
    this.keptTable.update(units);
    this.droppedTable.update(dropped);
    /** @param {string} title @param {string} value */
    const fact = (title, value) => el("div", el("dt", title), el("dd", value));
    put(
      this.facts,
      fact("Statements kept", count(kept)),
      fact("Sampled for judging", count(sampled)),
      fact("Statements dropped", count(dropped.length)),
      fact("Topics", count(pyramids.length)),
    );
    put(this.notes, noteList(others, { title: "Other notes" }));
    const store = button(`Store ${plural(kept, "unit")} …`, () => this.#ask(kept, this.storing), "primary");
    put(this.storing, kept > 0 && [store, el("span.m-help", "They become the crowd’s pyramids.")]);
  }

  /** Put the tables onto the page; they stay there while statements change. @param {number} kept */
  #lay(kept) {
    const heading = el("h3", { tabindex: "-1" }, "What would be stored");
    const title = el("h3", "Dropped statements");
    put(this.result, heading, this.facts, this.keptTable.node, title, this.droppedTable.node, this.notes, this.storing);
    if (kept >= 0) heading.focus();
  }

  /** @param {Statement} unit */
  #tools(unit) {
    const text = unit.label.slice(0, 60);
    /** @param {string} word @param {() => unknown} work */
    const tool = (word, work) => {
      const made = button(word, () => busy(made, work), "small");
      made.setAttribute("aria-label", `${word}: ${text}`);
      return made;
    };
    const drop = () => this.#change("The statement is dropped.", () => this.edits.remove(unit));
    const restore = () => this.#change("The statement is restored.", () => this.edits.restore(unit));
    const edit = tool("Edit", () => this.#edit(unit));
    return el("div.m-tools", edit, unit.reason === undefined ? tool("Drop", drop) : tool("Restore", restore));
  }

  /** @param {Statement} unit */
  #edit(unit) {
    const { node, input } = labelField(unit.label);
    openForm({
      title: "Reword the statement",
      confirm: "Use these words",
      fields: [el("p.m-help", "What the worker wrote stays in the answers; the unit gets these words."), node],
      run: async () => {
        const label = input.value.trim();
        if (!label) throw new Error("Write at least one word, or drop the statement.");
        await this.#change("The statement is reworded.", () => this.edits.reword(unit, label));
      },
    });
    input.focus();
  }

  /** @param {number} kept @param {HTMLElement} place */
  #ask(kept, place) {
    const effect =
      "They become the crowd’s pyramids of this study, and judging campaigns can use them. This can be done once per topic.";
    ask({
      title: `Store ${plural(kept, "unit")}?`,
      intro: el("p", effect),
      confirm: "Store units",
      reason: false,
      run: async () => {
        await post(this.address, { store: true, ...this.edits.request() });
        const next = el("a", { href: "/manage#plan" }, "plan a judging campaign");
        put(
          place,
          el("div.notice.good", el("p", el("strong", "Stored. "), "Now summaries can be judged: ", next, ".")),
        );
        say(`${plural(kept, "unit")} stored.`);
      },
    });
  }
}

/** @param {"kept" | "dropped"} which @param {(unit: Statement) => HTMLElement} tools */
function statementTable(which, tools) {
  const kept = which === "kept";
  const group = column("Judging group", (row) => row.group || null, {
    cell: (row) => (row.group ? name(row.group) : el("span.m-help", "not sampled")),
  });
  return new DataTable({
    caption: kept ? "Units that would be kept" : "Dropped statements",
    noun: kept ? "unit" : "statement",
    key: keyOf,
    sort: { by: "Topic", direction: "ascending" },
    page: 15,
    filter: (row) => [row.topic, row.id, row.label, row.author, row.group, row.reason].join(" "),
    columns: [
      column("Statement", (row) => row.label, { kind: "wide", header: true, cell: (row) => el("bdi", row.label) }),
      column("Topic", (row) => row.topic),
      column("Written by", (row) => row.author),
      kept ? group : column("Why", (row) => row.reason),
      column("Tools", () => null, {
        kind: "tools",
        sortable: false,
        hideTitle: true,
        watch: (row) => [row.label, row.reason],
        cell: tools,
      }),
    ],
    empty: el(
      "p",
      kept ? "No statement is left; the table below says why each was dropped." : "No statement was dropped.",
    ),
  });
}
