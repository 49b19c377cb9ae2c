// @ts-check
// From a writing campaign to units: what would be kept and what dropped, and why, before anything is stored.

import { path, post } from "../shared/api.js";
import { ask } from "../shared/dialog.js";
import { busy, button, byId, el, name, put, setText } from "../shared/dom.js";
import { count, plural } from "../shared/format.js";
import { errorBox, noteList, say } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";

/** @import { CampaignData } from "./campaign.js" */
/** @import { Problem } from "../shared/api.js" */
/** @typedef {{ id: string, label: string, author: string, group: string, topic: string }} Unit */
/**
 * @typedef {{ kept: number, pyramids: { topic: string, units: Unit[] }[], notes: Problem[] }}
 *   Made what was or would be made
 */

export class Units {
  /** @param {HTMLElement} place @param {{ campaign: string }} page */
  constructor(place, { campaign }) {
    this.address = path`/api/manage/campaigns/${campaign}/units`;
    const preview = () => busy(this.button, () => this.#preview());
    this.button = button("Preview units", preview, "primary");
    this.line = el("p");
    this.result = el("div.m-units");
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
      this.#show(await post(this.address, { store: false }));
    } catch (error) {
      put(this.result, errorBox(error, "No units could be made"));
    }
  }

  /** @param {Made} made */
  #show({ kept, pyramids, notes }) {
    const units = pyramids.flatMap(({ topic, units: list }) => list.map((unit) => ({ ...unit, topic })));
    const sampled = units.filter((unit) => unit.group).length;
    const dropped = notes.filter((note) => /^dropped\b/.test(note.what ?? ""));
    const others = notes.filter((note) => !dropped.includes(note));
    const heading = el("h3", { tabindex: "-1" }, "What would be stored");
    /** @param {string} title @param {string} value */
    const fact = (title, value) => el("div", el("dt", title), el("dd", value));
    const store = button(`Store ${plural(kept, "unit")} …`, () => this.#ask(kept, storing), "primary");
    const storing = el("div.actions", store, el("span.m-help", "They become the crowd’s pyramids."));
    put(
      this.result,
      heading,
      el(
        "dl.m-facts",
        fact("Statements kept", count(kept)),
        fact("Sampled for judging", count(sampled)),
        fact("Statements dropped", count(dropped.length)),
        fact("Topics", count(pyramids.length)),
      ),
      unitTable(units),
      noteList(dropped, { title: "Dropped statements", none: "No statement was dropped." }),
      noteList(others, { title: "Other notes" }),
      kept > 0 && storing,
    );
    heading.focus();
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
        await post(this.address, { store: true });
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

/** @param {Unit[]} units */
function unitTable(units) {
  const table = new DataTable({
    caption: "Units that would be kept",
    noun: "unit",
    key: (row) => JSON.stringify([row.topic, row.id]),
    sort: { by: "Topic", direction: "ascending" },
    page: 15,
    filter: (row) => [row.topic, row.id, row.label, row.author, row.group].join(" "),
    columns: [
      column("Statement", (row) => row.label, { kind: "wide", header: true, cell: (row) => name(row.label) }),
      column("Topic", (row) => row.topic),
      column("Written by", (row) => row.author),
      column("Judging group", (row) => row.group || null, {
        cell: (row) => (row.group ? name(row.group) : el("span.m-help", "not sampled")),
      }),
    ],
    empty: el("p", "No statement is left. The notes say why each was dropped."),
  });
  table.update(units);
  return table.node;
}
