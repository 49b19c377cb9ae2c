// @ts-check
// The units that a judging campaign asks about: each with its text, to be left out, taken back in, or reworded.

import { get, post } from "../shared/api.js";
import { openForm } from "../shared/dialog.js";
import { button, el, name, put, setText } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { errorBox, say } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { simulatedPill } from "./words.js";

/** @typedef {{ pyramid: string, topic: string, id: string, label: string, asked: string,
 *   judged: boolean, simulated: boolean }} Unit */

const ADDRESS = "/api/manage/units";
/** @param {string} topic @param {string} id */
const keyOf = (topic, id) => JSON.stringify([topic, id]);

export class UnitPicker {
  /** @type {Map<string, Unit>} */
  #units = new Map();
  /** @type {Map<string, [topic: string, unit: string]>} */
  #without;
  #loaded = false;
  #pyramid = "";
  /** @type {Set<string>} */
  #topics = new Set();

  /**
   * @param {{ without: [string, string][], simulated: string[], locked: boolean, onChange: () => void }} about
   *   simulated: the pyramids that a rehearsal wrote
   */
  constructor({ without, simulated, locked, onChange }) {
    this.simulated = simulated;
    this.#without = new Map(without.map(([topic, unit]) => [keyOf(topic, unit), [topic, unit]]));
    this.locked = locked;
    this.onChange = onChange;
    this.state = el("span");
    this.mark = simulatedPill();
    this.problem = el("div");
    this.table = this.#makeTable();
    const help = locked
      ? "The tasks are made, so what is asked stays as it is."
      : "Drop a unit that is unclear or wrong; it stays in the study and can be restored. Units can be reworded until " +
        "people are asked about them.";
    this.node = el(
      "details.m-fold",
      el("summary", this.state, " ", this.mark),
      el("p.m-help", help),
      this.problem,
      el("div.m-unit-table", this.table.node),
    );
    this.node.addEventListener("toggle", () => this.node.open && this.#load());
    this.#show();
  }

  /** The units that are left out. */
  value() {
    return [...this.#without.values()];
  }

  /** @param {string} pyramid @param {string[]} topics those asked about; none means all */
  restrict(pyramid, topics) {
    this.#pyramid = pyramid;
    this.#topics = new Set(topics);
    this.#show();
  }

  async #load() {
    if (this.#loaded) return;
    this.#loaded = true;
    try {
      /** @type {{ units: Unit[] }} */
      const { units } = await get(ADDRESS);
      for (const unit of units) this.#units.set(keyOf(unit.topic, unit.id), unit);
      this.#show();
    } catch (error) {
      this.#loaded = false;
      put(this.problem, errorBox(error, "The units could not be read"));
    }
  }

  #show() {
    const out = this.#without.size;
    setText(this.state, `Units: ${out ? `${plural(out, "unit")} left out` : "all of them"}`);
    this.mark.hidden = !this.simulated.includes(this.#pyramid);
    const shown = [...this.#units.values()].filter(
      ({ pyramid, topic }) =>
        (!this.#pyramid || pyramid === this.#pyramid) && (!this.#topics.size || this.#topics.has(topic)),
    );
    this.table.update(shown.map((unit) => ({ ...unit, out: this.#without.has(keyOf(unit.topic, unit.id)) })));
  }

  #makeTable() {
    return new DataTable({
      caption: "Units to ask about",
      noun: "unit",
      key: (row) => keyOf(row.topic, row.id),
      sort: { by: "Topic", direction: "ascending" },
      page: 20,
      filter: (row) => [row.topic, row.id, row.label, row.out ? "left out" : ""].join(" "),
      rowClass: (row) => (row.out ? "m-out" : ""),
      columns: [
        column("Unit", (row) => row.label, {
          kind: "wide",
          header: true,
          cell: (row) => [el("bdi", row.label), row.simulated && [" ", simulatedPill()]],
        }),
        column("Topic", (row) => row.topic, { cell: (row) => name(row.topic) }),
        column("Asked", (row) => (row.out ? "left out" : "yes")),
        column("Tools", () => null, {
          kind: "tools",
          sortable: false,
          hideTitle: true,
          watch: (row) => [row.out, row.label],
          cell: (row) => this.#tools(row),
        }),
      ],
      empty: el("p", "There are no units here yet."),
    });
  }

  /** @param {Unit & { out: boolean }} unit */
  #tools(unit) {
    if (this.locked) return null;
    const key = keyOf(unit.topic, unit.id);
    const toggle = () => {
      if (unit.out) this.#without.delete(key);
      else this.#without.set(key, [unit.topic, unit.id]);
      this.#show();
      this.onChange();
      say(unit.out ? "The unit is asked about again." : "The unit is left out. Restore it in the same row.");
    };
    const text = unit.label.slice(0, 60);
    const drop = button(unit.out ? "Restore" : "Drop", toggle, "small");
    drop.setAttribute("aria-label", `${unit.out ? "Restore" : "Drop"}: ${text}`);
    const edit = button("Edit", () => this.#edit(unit), "small");
    edit.setAttribute("aria-label", `Edit: ${text}`);
    const why = unit.asked
      ? `${unit.asked} asks about it in these words.`
      : unit.judged
        ? "It has been judged in these words."
        : "";
    if (why) {
      edit.setAttribute("aria-disabled", "true");
      edit.title = why;
      edit.onclick = () => say(`${why} So they stay.`);
    }
    return el("div.m-tools", edit, drop);
  }

  /** @param {Unit} unit */
  #edit(unit) {
    if (unit.asked || unit.judged) return;
    const { node, input } = labelField(unit.label);
    openForm({
      title: "Reword the unit",
      confirm: "Save",
      fields: [el("p.m-help", `Topic ${unit.topic}. The new words hold for the whole study.`), node],
      run: async () => {
        const label = input.value.trim();
        await post(ADDRESS, { topic: unit.topic, unit: unit.id, label });
        this.#units.set(keyOf(unit.topic, unit.id), { ...unit, label });
        this.#show();
        say("The unit is reworded.");
      },
    });
    input.focus();
  }
}

/** A field for the words of a unit. @param {string} label */
export function labelField(label) {
  const input = el("textarea", { id: "unit-label", rows: "3", maxlength: "500", dir: "auto" });
  input.value = label;
  return { input, node: el("div.field", el("label", { for: "unit-label" }, "Text"), input) };
}
