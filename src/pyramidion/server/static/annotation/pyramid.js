// @ts-check
// The editor of a pyramid: what can be done to units and their contributors.

import { byId, el, put } from "../shared/dom.js";
import { beginning, capital } from "../shared/format.js";
import { announce, say } from "../shared/messages.js";
import { drag } from "./drag.js";
import { group } from "./bar.js";
import { Editor } from "./editor.js";
import { contributors } from "./pick.js";
import { drawShape } from "./tiers.js";
import { UnitPanel } from "./unit.js";

/** @import { State, Unit } from "./commands.js" */
/** @import { Action } from "./bar.js" */
/** @import { Target } from "./drag.js" */
/** @import { Card, Filter, Quote } from "./tiers.js" */

const LONGEST_LABEL = 160;

export class PyramidEditor extends Editor {
  /** @param {HTMLElement} main @param {State} state */
  constructor(main, state) {
    super(main, state);
    this.panel = new UnitPanel(this);
    byId("new-unit").addEventListener("click", () => this.mayEdit && this.newUnit());
  }

  get role() {
    return "Reference";
  }

  /** @returns {Filter[]} */
  get filters() {
    return [
      { value: "all", title: "All units", test: () => true },
      { value: "one", title: "Weight 1", test: (unit) => unit.weight === 1 },
      { value: "unlabelled", title: "No label", test: (unit) => !unit.label.trim() },
      { value: "commented", title: "With a comment", test: (unit) => unit.comment !== "" },
    ];
  }

  /** @param {State} state */
  listMentions({ pyramid }) {
    return pyramid.units.flatMap((unit) =>
      unit.contributors.map(({ reference, spans }) => ({ unit: unit.id, text: reference, spans })),
    );
  }

  /** @param {Unit} unit */
  wordsOf(unit) {
    return unit.contributors.map(({ reference, spans }) => this.texts.quote(reference, spans)).join(" ");
  }

  /** @param {Unit} unit @returns {Quote[]} */
  quotesOf(unit) {
    return unit.contributors.map(({ reference, spans }) => ({
      from: reference,
      text: this.texts.quote(reference, spans),
      go: () => this.ways.goTo(reference, spans),
    }));
  }

  showDetail() {
    this.panel?.update();
  }

  show() {
    super.show();
    drawShape(byId("shape"), this.units, this.state.pyramid.references.length);
  }

  // -- cards ---------------------------------------------------------------------------------------------------

  /** @param {Unit} unit */
  cardKey(unit) {
    return JSON.stringify([unit.label, unit.weight, unit.comment, unit.contributors]);
  }

  /** @param {Unit} unit @param {Card} card */
  drawCard(unit, card) {
    super.drawCard(unit, card);
    const here = new Set(unit.contributors.map(({ reference }) => reference));
    /** @param {string} reference */
    const mark = (reference) =>
      here.has(reference)
        ? el("bdi.a-mark.a-mark-on", { title: reference }, reference.slice(0, 2))
        : el("span.a-mark", { "aria-hidden": "true" }, "·");
    put(card.marks, this.state.pyramid.references.map(mark));
  }

  /**
   * Onto another card to merge, to an edge of it to go before or after.
   * @param {string} id @param {PointerEvent} move
   */
  dragCard(id, move) {
    /** @param {string} before */
    const place = (before) => this.work.do({ type: "reorder_unit", unit: id, before });
    /** @param {Element} node @param {PointerEvent} event @returns {Target | null} */
    const target = (node, { clientY }) => {
      const card = node.closest("[data-unit]");
      const other = card?.getAttribute("data-unit");
      if (!card || !other || other === id) return null;
      const { top, height } = card.getBoundingClientRect();
      const at = (clientY - top) / height;
      if (at < 0.3) return { node: card, mark: "a-before", drop: () => place(other) };
      if (at > 0.7) return { node: card, mark: "a-after", drop: () => place(this.#following(other, id)) };
      return { node: card, mark: "a-drop", drop: () => this.#merge(other, id) };
    };
    drag(move, { shown: this.unit(id)?.label || "no label", target });
  }

  /** @param {string} id @param {string} moving */
  #following(id, moving) {
    const others = this.units.filter((unit) => unit.id !== moving);
    return others[others.findIndex((unit) => unit.id === id) + 1]?.id ?? "";
  }

  /** @param {Element} node @returns {Target | null} */
  dropOf(node) {
    const card = node.closest("[data-unit]");
    if (card) return { node: card, mark: "a-drop", drop: () => this.take(String(card.getAttribute("data-unit"))) };
    const fresh = node.closest("#new-unit");
    return fresh && { node: fresh, mark: "a-drop", drop: () => this.newUnit() };
  }

  // -- what can be done ----------------------------------------------------------------------------------------

  /** @param {string} id */
  take(id) {
    const added = contributors(this.pick).filter((each) =>
      this.work.do({ type: "add_contributor", unit: id, ...each }),
    );
    if (!added.length) return;
    announce(`Added to “${this.unit(id)?.label}”, now of weight ${this.unit(id)?.weight}`);
    this.pick.clear();
    this.choose(id, { reveal: true });
    this.tiers.reveal(id);
  }

  newUnit() {
    const [first] = this.pick.all;
    const label = first ? firstLabel(first.text.pieces(first.spans)) : "";
    const id = this.work.do({ type: "add_unit", label, contributors: contributors(this.pick) });
    if (typeof id !== "string") return;
    this.pick.clear();
    this.choose(id);
    this.rename(id);
  }

  /** @param {string | null} [id] */
  rename(id = this.current) {
    const text = this.texts.of(document.activeElement);
    if (id === null) return;
    this.tiers.edit(id, {
      save: (unit, label) => this.work.do({ type: "rename_unit", unit, label }),
      done: (unit) => (text ? text.body.focus({ preventScroll: true }) : this.tiers.focus(unit)),
    });
  }

  removePicked() {
    const taken = contributors(this.pick).filter((each) =>
      this.work.do({ type: "remove_contributor", unit: this.current, ...each }),
    );
    if (!taken.length) return;
    announce("Removed");
    this.pick.clear();
  }

  async merge() {
    const id = this.current;
    const other = await this.finder.ask(`Merge “${this.unit(id)?.label}” with which unit?`);
    if (id !== null && other !== null && other !== id) this.#merge(id, other);
    this.tiers.focus(id);
  }

  /** @param {string} id @param {string} other */
  #merge(id, other) {
    if (!this.work.do({ type: "merge_units", units: [id, other] })) return;
    this.choose(id, { reveal: true });
    say("Merged into one unit. Undo takes them apart again.");
  }

  split(references = this.panel.ticked) {
    const unit = this.unit(this.current);
    if (!unit) return;
    const [first] = unit.contributors.filter((each) => references.includes(each.reference));
    if (!first || references.length === unit.contributors.length) {
      return say("Tick some of its contributors, not all: they become a new unit.");
    }
    const text = this.texts.get(first.reference);
    const label = text ? firstLabel(text.pieces(text.places.toUnits(first.spans))) : "";
    const id = this.work.do({ type: "split_unit", unit: unit.id, references, label });
    if (typeof id !== "string") return;
    this.choose(id, { reveal: true });
    this.rename(id);
  }

  async move() {
    const { ticked } = this.panel;
    const from = this.current;
    if (!ticked.length) return say("Tick the contributors that you want to move.");
    const to = await this.finder.ask(`Move ${ticked.join(", ")} to which unit?`);
    if (to !== null)
      for (const reference of ticked) this.work.do({ type: "move_contributor", unit: from, reference, to });
    this.tiers.focus(to ?? from);
  }

  /** @param {1 | -1} by */
  reorder(by) {
    const unit = this.unit(this.current);
    if (!unit) return;
    const tier = this.units.filter(({ weight }) => weight === unit.weight);
    const other = tier[tier.indexOf(unit) + by];
    if (!other) return;
    const before = by < 0 ? other.id : this.#following(other.id, unit.id);
    this.work.do({ type: "reorder_unit", unit: unit.id, before });
    this.tiers.reveal(unit.id);
  }

  remove() {
    const { ids } = this.tiers;
    const at = ids.indexOf(this.current ?? "");
    const inList = byId("tiers").contains(document.activeElement);
    if (!this.work.do({ type: "delete_unit", unit: this.current })) return;
    const next = ids[at + 1] ?? ids[at - 1] ?? null;
    this.choose(next);
    if (inList && next !== null) this.tiers.focus(next);
    say("Unit deleted. Undo brings it back.");
  }

  /** @returns {Action[]} */
  actions() {
    /** @param {() => unknown} run */
    const edits = (run) => () => this.mayEdit && run();
    /** @param {(id: string) => unknown} run */
    const ofUnit = (run) => edits(() => (this.current === null ? say("Choose a unit first.") : run(this.current)));
    /** @param {() => unknown} run */
    const ofPick = (run) => edits(() => (this.pick.empty ? say("Pick some words first.") : run()));
    return [
      ...group("With the words picked", [
        { id: "new", key: "n", title: "start a new unit", run: edits(() => this.newUnit()) },
        { id: "add", key: "a", title: "add them to the current unit", run: ofPick(ofUnit((id) => this.take(id))) },
        {
          id: "take-out",
          key: "x",
          title: "remove them from the current unit",
          run: ofPick(ofUnit(() => this.removePicked())),
        },
      ]),
      ...group("With the current unit", [
        { id: "rename", key: "r", also: "F2", title: "rename", run: ofUnit(() => this.rename()) },
        { id: "words", key: "w", title: "its words", run: () => this.ways.goToWords(this.current) },
        { id: "comment", key: "c", title: "comment", run: ofUnit(() => byId("comment").focus()) },
        { id: "merge", key: "m", title: "merge with another", run: ofUnit(() => this.merge()) },
        { id: "split", key: "p", title: "split off the ticked contributors", run: ofUnit(() => this.split()) },
        { id: "move", key: "v", title: "move the ticked contributors", run: ofUnit(() => this.move()) },
        { id: "up", key: "Alt+ArrowUp", shown: "Alt ↑", title: "up in its tier", run: ofUnit(() => this.reorder(-1)) },
        {
          id: "down",
          key: "Alt+ArrowDown",
          shown: "Alt ↓",
          title: "down in its tier",
          run: ofUnit(() => this.reorder(1)),
        },
        {
          id: "delete",
          key: "Delete",
          shown: "Del",
          where: ".a-tiers",
          title: "delete (in the list)",
          run: ofUnit(() => this.remove()),
        },
      ]),
      ...group("Suggestions for the current unit", this.panel?.suggestions.actions ?? []),
      ...this.finding(),
    ];
  }
}

/**
 * The label offered for a unit: the words of one contributor, as a sentence begins.
 * @param {string[]} pieces
 */
export const firstLabel = (pieces) => capital(beginning(pieces.join(" ").replace(/\s+/g, " ").trim(), LONGEST_LABEL));
