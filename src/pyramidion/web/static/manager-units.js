// From a writing campaign to units: what would be kept and what dropped, and why, before anything is stored.

import { errorBox, path, post } from "./manager-api.js";
import { busy, byId, count, el, name, plural, put, setText } from "./manager-dom.js";
import { ask } from "./manager-dialog.js";
import { say } from "./manager-live.js";
import { noteList } from "./manager-notes.js";
import { DataTable } from "./manager-table.js";

export class Units {
  constructor(place, { campaign }) {
    this.address = path`/api/manage/campaigns/${campaign}/units`;
    this.button = el(
      "button",
      { type: "button", class: "button primary", onclick: () => busy(this.button, () => this.#preview()) },
      "Preview units",
    );
    this.line = el("p");
    this.result = el("div", { class: "m-units" });
    put(
      place,
      this.line,
      el("div", { class: "actions" }, this.button, el("span", { class: "m-help" }, "Nothing is stored yet.")),
      this.result,
    );
  }

  update({ kind, chain, progress, state }) {
    byId("units").hidden = kind !== "write";
    this.button.disabled = !(progress.submitted > 0); // looking at what would be made is always possible
    const missing = progress.wanted - progress.submitted;
    const done = missing <= 0 || state === "closed";
    const base =
      "Written statements are filtered (one sentence, sensible length, no repetition), sampled evenly, and grouped for judging.";
    const ready = done ? "" : ` ${plural(missing, "answer")} still missing: units made now leave them out.`;
    const lacking = progress.submitted > 0 ? "The units are stored." : "This needs at least one answer that counts.";
    setText(this.line, chain?.can_make_units ? base + ready : `${base} ${lacking}`);
  }

  async #preview() {
    try {
      this.#show(await post(this.address, { store: false }));
    } catch (error) {
      put(this.result, errorBox(error, "No units could be made"));
    }
  }

  #show({ kept, pyramids, notes }) {
    const units = pyramids.flatMap(({ topic, units: list }) => list.map((unit) => ({ ...unit, topic })));
    const sampled = units.filter((unit) => unit.group).length;
    const dropped = notes.filter((note) => /^dropped\b/.test(note.what));
    const others = notes.filter((note) => !dropped.includes(note));
    const heading = el("h3", { tabindex: "-1" }, "What would be stored");
    const fact = (title, value) => el("div", {}, el("dt", {}, title), el("dd", {}, value));
    const store = el(
      "button",
      { type: "button", class: "button primary", onclick: () => this.#ask(kept) },
      `Store ${plural(kept, "unit")} …`,
    );
    this.stored = el(
      "div",
      { class: "actions" },
      store,
      el("span", { class: "m-help" }, "They become the crowd’s pyramids."),
    );
    put(
      this.result,
      heading,
      el(
        "dl",
        { class: "m-facts" },
        fact("Statements kept", count(kept)),
        fact("Sampled for judging", count(sampled)),
        fact("Statements dropped", count(dropped.length)),
        fact("Topics", count(pyramids.length)),
      ),
      unitTable(units),
      noteList(dropped, { title: "Dropped statements", none: "No statement was dropped." }),
      noteList(others, { title: "Other notes" }),
      kept > 0 && this.stored,
    );
    heading.focus();
  }

  #ask(kept) {
    ask({
      title: `Store ${plural(kept, "unit")}?`,
      intro: el(
        "p",
        {},
        "They become the crowd’s pyramids of this study, and judging campaigns can use them. A topic can have this done once.",
      ),
      confirm: "Store units",
      reason: false,
      run: async () => {
        await post(this.address, { store: true });
        const done = el(
          "p",
          {},
          el("strong", {}, "Stored. "),
          "Now summaries can be judged: ",
          el("a", { href: "/manage#plan" }, "plan a judging campaign"),
          ".",
        );
        put(this.stored, el("div", { class: "notice good" }, done));
        say(`${plural(kept, "unit")} stored.`);
      },
    });
  }
}

function unitTable(units) {
  const table = new DataTable({
    caption: "Units that would be kept",
    noun: "unit",
    key: (row) => JSON.stringify([row.topic, row.id]),
    sort: { by: "topic", direction: "ascending" },
    page: 15,
    filter: (row) => [row.topic, row.id, row.label, row.author, row.group].join(" "),
    columns: [
      {
        id: "label",
        title: "Statement",
        kind: "wide",
        header: true,
        value: (row) => row.label,
        cell: (row) => name(row.label),
      },
      { id: "topic", title: "Topic", value: (row) => row.topic },
      { id: "author", title: "Written by", value: (row) => row.author },
      {
        id: "group",
        title: "Judging group",
        value: (row) => row.group || null,
        cell: (row) => (row.group ? name(row.group) : el("span", { class: "m-help" }, "not sampled")),
      },
    ],
    empty: el("p", {}, "No statement is left. The notes say why each was dropped."),
  });
  table.update(units);
  return table.node;
}
