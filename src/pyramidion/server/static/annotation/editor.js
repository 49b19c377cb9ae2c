// @ts-check
// What both editors share: texts on one side, the pyramid on the other, one current unit, one pick, one annotation.
// An editor of a kind says what is mentioned where, how a card looks, and what can be done.

import { byId, el, put, setText } from "../shared/dom.js";
import { announce, notice, say } from "../shared/messages.js";
import { Bar, Keys } from "./bar.js";
import { unitsOf } from "./commands.js";
import { drag, dragFrom } from "./drag.js";
import { Pick, quotation, Selecting } from "./picking.js";
import { holds } from "./spans.js";
import { paint, Texts } from "./text.js";
import { Finder, Tiers } from "./tiers.js";
import { Work } from "./work.js";

/** @import { Action } from "./bar.js" */
/** @import { Command, Event as Change, State, Unit } from "./commands.js" */
/** @import { Target } from "./drag.js" */
/** @import { Span } from "./spans.js" */
/** @import { Text } from "./text.js" */
/** @import { Card, Filter } from "./tiers.js" */
/**
 * @typedef {{ id?: string, unit: string | null, text: string, spans: Span[] }}
 *   Mention where words of a text are used
 */

const FLASH = 2600;
const REST = 250;

export class Editor {
  /** The name of the current unit. @type {string | null} */
  current = null;
  /** @type {Mention[]} */
  mentions = [];
  #lit = "";
  #hash = location.hash;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #addressing;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #flashing;
  /** Which words of which unit were gone to last. @type {{ unit: string | null, at: number }} */
  #went = { unit: null, at: 0 };

  /** @param {HTMLElement} main @param {State} state */
  constructor(main, state) {
    this.me = String(main.dataset.me);
    this.work = new Work(state, this.me);
    this.texts = new Texts(state.texts, this.role, byId("texts"));
    this.pick = new Pick(() => this.#picked());
    this.selecting = new Selecting(this.texts, this.pick, {
      onHover: (text, place) => this.#hovered(text, place),
      onCursor: (text, place) => this.here.at(this.unitsAt(text, place)),
      onDrag: (event) =>
        this.mayEdit && drag(event, { shown: quotation(this.pick), target: (node) => this.dropOf(node) }),
      say: announce,
    });
    this.tiers = new Tiers(byId("tiers"), {
      top: state.pyramid.references.length,
      draw: (unit, card) => this.drawCard(unit, card),
      key: (unit) => this.cardKey(unit),
      onFocus: (id) => (this.finder.asking ? this.light([id]) : this.choose(id)),
      onClick: (id) => (this.finder.asking ? this.finder.answer(id) : this.choose(id)),
      onHover: (id) => this.light(id === null ? [] : [id]),
      onPress: (id, event) => this.mayEdit && dragFrom(event, (move) => this.dragCard(id, move)),
    });
    this.finder = new Finder({
      tiers: this.tiers,
      filters: this.filters,
      words: (unit) => this.wordsOf(unit),
      onEnter: (id) => this.entered(id),
      leave: () => (this.finder.asking ? this.finder.answer(null) : this.backToText()),
    });
    this.here = new Here(this);
    this.keys = new Keys(this.actions(), { undo: () => this.undo(), redo: () => this.redo() });
    this.bar = new Bar(this.work, { help: () => this.keys.help() });
    byId("tiers").addEventListener("keydown", (event) => this.#listKey(event));
    byId("idle").addEventListener("click", () => this.#toggleIdle());
    this.#listen();
  }

  // -- what an editor of a kind says ---------------------------------------------------------------------------

  /** What the texts are to the annotator. */
  get role() {
    return "";
  }

  /** @returns {Filter[]} */
  get filters() {
    return [];
  }

  /** @param {State} _state @returns {Mention[]} */
  listMentions(_state) {
    return [];
  }

  /** What is searched of a unit besides its label. @param {Unit} _unit */
  wordsOf(_unit) {
    return "";
  }

  /** Changes when a card has to be drawn again. @param {Unit} unit */
  cardKey(unit) {
    return unit.id;
  }

  /** @param {Unit} unit @param {Card} card */
  drawCard(unit, { label, note }) {
    setText(label, unit.label || this.wordsOf(unit).slice(0, 80) || "no label");
    label.classList.toggle("a-unlabelled", !unit.label);
    setText(note, unit.comment ? "✎" : "");
    note.title = unit.comment;
  }

  /** What picked words can be dropped on. @param {Element} _node @returns {Target | null} */
  dropOf(_node) {
    return null;
  }

  /** @param {string} _id @param {PointerEvent} _move */
  dragCard(_id, _move) {}

  /** Put what is picked into a unit. @param {string} _id */
  take(_id) {}

  /** @returns {Action[]} */
  actions() {
    return [];
  }

  /** Show the current unit. */
  showDetail() {}

  /** @param {string} wanted */
  run(wanted) {
    return this.actions()
      .find(({ id }) => id === wanted)
      ?.run();
  }

  get mayEdit() {
    return this.work.mayEdit;
  }

  get state() {
    return this.work.state;
  }

  get units() {
    return this.work.state.pyramid.units;
  }

  /** @param {string | null} id */
  unit = (id) => this.units.find((unit) => unit.id === id);

  begin() {
    this.show();
    this.#followHash();
    addEventListener("hashchange", () => this.#followHash());
    return this.work.start();
  }

  #listen() {
    const { work } = this;
    work.on("change", ({ events }) => {
      this.show();
      this.#others(events.filter((/** @type {Change} */ event) => event.author !== this.me));
    });
    work.on("named", ({ from, to }) => {
      this.tiers.rename(from, to); // the state with this name is shown right after
      if (this.current !== from) return;
      this.current = to;
      this.#setHash(to);
    });
    work.on("refused", ({ reason }) => say(reason));
    work.on("conflict", (detail) => this.#conflict(detail));
    work.on("gone", ({ error }) => notice("bad", [error.message], []));
  }

  // -- showing -------------------------------------------------------------------------------------------------

  show() {
    this.mentions = this.listMentions(this.state);
    const idle = byId("idle").getAttribute("aria-pressed") === "true";
    for (const text of this.texts.all) {
      const spans = this.mentions.filter((mention) => mention.text === text.name).flatMap((mention) => mention.spans);
      text.shade(spans, idle);
    }
    if (this.current !== null && !this.unit(this.current)) this.current = null;
    this.tiers.update(this.units);
    this.finder.apply();
    this.tiers.current(this.current);
    this.#paintUnits("current", this.current === null ? [] : [this.current]);
    this.showDetail();
    this.here.update();
    this.bar.update();
  }

  /** @param {string} layer @param {string[]} ids */
  #paintUnits(layer, ids) {
    const mine = this.mentions.filter(({ unit }) => unit !== null && ids.includes(unit));
    for (const text of this.texts.all) {
      const spans = mine.flatMap((mention) => (mention.text === text.name ? mention.spans : []));
      text.paint(layer, spans);
    }
  }

  /** Make a unit the current one. @param {string | null} id */
  choose(id, { reveal = false } = {}) {
    if (this.current === id) return;
    this.current = id;
    this.tiers.current(id);
    this.#paintUnits("current", id === null ? [] : [id]);
    this.showDetail();
    this.here.update();
    if (reveal) this.tiers.reveal(id);
    this.#setHash(id);
  }

  /** The address follows at rest: on the way through a list it would only cost time. @param {string | null} id */
  #setHash(id) {
    clearTimeout(this.#addressing);
    this.#addressing = setTimeout(() => {
      history.replaceState(null, "", id === null ? location.pathname : `#unit=${encodeURIComponent(id)}`);
      this.#hash = location.hash;
    }, REST);
  }

  /** Light units: their cards, and their words in every text. @param {string[]} ids */
  light(ids) {
    const key = ids.join("\n");
    if (key === this.#lit) return;
    this.#lit = key;
    this.tiers.mark("a-lit", ids);
    this.#paintUnits("lit", ids);
  }

  /** What is said about the words at a place of a text. @param {Text} text @param {number} place */
  mentionsAt(text, place) {
    const [[point]] = text.places.toPoints([[place, place]]);
    return this.mentions.filter((mention) => mention.text === text.name && holds(mention.spans, point));
  }

  /** @param {Text} text @param {number} place */
  unitsAt(text, place) {
    return [...new Set(this.mentionsAt(text, place).flatMap(({ unit }) => unit ?? []))];
  }

  /** @param {Text} text @param {number | null} place */
  #hovered(text, place) {
    const ids = place === null ? [] : this.unitsAt(text, place);
    this.light(ids);
    this.here.at(place === null ? this.#underCursor() : ids);
  }

  /** The units that use the word under the cursor. */
  #underCursor() {
    const { cursor } = this.selecting;
    return cursor ? this.unitsAt(cursor.text, cursor.text.words.spans[cursor.word][0]) : [];
  }

  #picked() {
    for (const text of this.texts.all) paint.set("picked", text.node, this.pick.spans(text));
    this.here.update();
  }

  // -- going somewhere -----------------------------------------------------------------------------------------

  #followHash() {
    const named = /^#unit=(.+)$/.exec(location.hash);
    const id = named ? decodeURIComponent(named[1]) : null;
    if (!this.unit(id)) return;
    this.choose(id);
    this.tiers.reveal(id);
    if (this.#hash !== location.hash || document.activeElement === document.body) this.tiers.focus(id);
  }

  backToText() {
    const text = this.selecting.cursor?.text ?? this.texts.all[0];
    text?.body.focus({ preventScroll: true });
  }

  /** From the text to the unit there, from unit to unit where there are several; from the list back to the text. */
  cross() {
    if (byId("tiers").contains(document.activeElement)) return this.backToText();
    const ids = this.#underCursor();
    const next = ids[(ids.indexOf(this.current ?? "") + 1) % ids.length] ?? this.current ?? this.tiers.ids[0];
    if (next === undefined) return;
    this.tiers.focus(next);
    this.choose(next, { reveal: true });
  }

  /** The words of a unit in the texts, one after the other. @param {string | null} id */
  goToWords(id) {
    const mine = this.mentions.filter((mention) => mention.unit === id && mention.spans.length);
    if (id === null || !mine.length) return say("This unit has no words here.");
    this.#went = { unit: id, at: this.#went.unit === id ? (this.#went.at + 1) % mine.length : 0 };
    const { text, spans } = mine[this.#went.at];
    this.goTo(text, spans);
  }

  /** @param {string} name @param {Span[]} spans in code points */
  goTo(name, spans) {
    const text = this.texts.get(name);
    if (text && spans.length) this.selecting.goTo(text, text.places.toUnits(spans)[0][0]);
  }

  nextIdle() {
    const from = this.selecting.cursor ?? { text: this.texts.all[0], word: -1 };
    const here = this.texts.all.indexOf(from.text);
    for (let step = 0; step <= this.texts.all.length; step += 1) {
      const text = this.texts.all[(here + step) % this.texts.all.length];
      const start = step ? -1 : (from.text.words.spans[from.word]?.[0] ?? -1);
      const previous = step ? null : from.text.words.spans[from.word];
      const free = text.free.find((span) => span[0] > start && !follows(text, span, previous, start));
      if (free) return this.selecting.goTo(text, free[0]);
    }
    say("Every word is used.");
  }

  #toggleIdle() {
    const button = byId("idle");
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    this.show();
  }

  // -- the list ------------------------------------------------------------------------------------------------

  /** Enter in the search field. @param {string} id the first unit shown */
  entered(id) {
    if (this.finder.asking) return this.finder.answer(id);
    this.choose(id, { reveal: true });
    if (this.pick.empty || !this.mayEdit) return this.tiers.focus(id);
    this.finder.clear();
    this.take(id);
    this.backToText();
  }

  /** @param {KeyboardEvent} event */
  #listKey(event) {
    if (event.key === "Escape" && this.finder.asking) {
      event.preventDefault();
      return this.finder.answer(null);
    }
    const button = /** @type {Element} */ (event.target).closest(".a-unit");
    const id = button?.closest("[data-unit]")?.getAttribute("data-unit");
    if (event.key !== "Enter" || !id || event.altKey) return;
    event.preventDefault();
    if (this.finder.asking) return this.finder.answer(id);
    if (this.pick.empty || !this.mayEdit) return this.goToWords(id);
    this.take(id);
  }

  // -- changes -------------------------------------------------------------------------------------------------

  undo() {
    if (!this.work.undoable) return say("There is nothing to undo.");
    announce(`Undo: ${this.work.undoable}`);
    this.work.undo();
  }

  redo() {
    if (!this.work.redoable) return say("There is nothing to redo.");
    announce(`Redo: ${this.work.redoable}`);
    this.work.redo();
  }

  /** @param {Change[]} events */
  #others(events) {
    if (!events.length) return;
    const ids = [...new Set(events.flatMap((event) => unitsOf(event.command) ?? []))];
    this.tiers.mark("a-flash", ids);
    this.#paintUnits("flash", ids);
    clearTimeout(this.#flashing);
    this.#flashing = setTimeout(() => {
      this.tiers.mark("a-flash", []);
      paint.clear("flash");
    }, FLASH);
    const [last, more] = [events[events.length - 1], events.length - 1];
    say([el("bdi", last.author), ` ${last.says}`, more > 0 && ` (and ${more} more)`].filter(Boolean));
  }

  /** @param {{ command: Command, events: Change[], reason: string }} conflict */
  #conflict({ command, events, reason }) {
    const theirs = events.map((event) => [el("bdi", el("strong", event.author)), ` ${event.says}.`]);
    notice(
      "warn",
      [
        el(
          "strong",
          `Your change was not made (${describe(command)}), because somebody else changed the same thing first.`,
        ),
        ...(theirs.length ? theirs : [[reason]]),
      ],
      [{ title: "Make mine too", run: () => this.work.do(command) }, { title: "Leave it" }],
    );
  }
}

/**
 * Whether a free word merely goes on from the one before: a jump goes to the next stretch.
 * @param {Text} text
 * @param {Span} span
 * @param {Span | null} previous
 * @param {number} start
 */
function follows(text, span, previous, start) {
  if (!previous) return false;
  const at = text.words.at(span[0]);
  const free = new Set(text.free.map(([from]) => from));
  for (let word = at; word >= 0 && text.words.spans[word][0] >= start; word -= 1) {
    if (!free.has(text.words.spans[word][0])) return false;
  }
  return true;
}

/** @param {Command} command */
const describe = ({ type, label }) => (label ? `${type.replaceAll("_", " ")}: “${label}”` : type.replaceAll("_", " "));

/**
 * The strip below the texts: what is picked and what can be done with it; which units use the words under the cursor.
 */
class Here {
  #shown = "";

  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
    this.quote = byId("picked");
    this.units = byId("units-here");
    this.buttons = [...byId("pick-actions").querySelectorAll("button")];
    for (const button of this.buttons) {
      button.addEventListener("mousedown", (event) => event.preventDefault()); // the text keeps the focus
      button.addEventListener("click", () => editor.run(String(button.dataset.action)));
    }
  }

  update() {
    const { pick, current, mayEdit } = this.editor;
    setText(this.quote, pick.empty ? "" : quotation(pick));
    this.quote.parentElement?.classList.toggle("a-nothing", pick.empty);
    for (const button of this.buttons) {
      const needsUnit = button.hasAttribute("data-needs-unit");
      const off = !mayEdit || pick.empty || (needsUnit && current === null);
      button.setAttribute("aria-disabled", String(off));
    }
  }

  /** These units use the words under the pointer or the cursor. @param {string[]} ids */
  at(ids) {
    const { editor } = this;
    const units = ids.flatMap((id) => editor.unit(id) ?? []);
    const key = JSON.stringify(units.map(({ id, label, weight }) => [id, label, weight]));
    if (key === this.#shown) return;
    this.#shown = key;
    const chips = units.map(({ id, label, weight }) => {
      const choose = () => editor.choose(id, { reveal: true });
      const shown = [el("span.a-weight", String(weight)), el("bdi", label || "no label")];
      return el("button.a-chip", { type: "button", tabindex: "-1", onclick: choose }, shown);
    });
    put(this.units, chips);
  }
}
