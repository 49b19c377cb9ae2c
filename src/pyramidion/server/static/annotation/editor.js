// @ts-check
// What both editors share: texts on one side, the pyramid on the other, one current unit, one pick, one annotation.
// An editor of a kind says what is mentioned where, how a card looks, and what can be done.

import { byId, el, setText } from "../shared/dom.js";
import { announce, hush, notice, say } from "../shared/messages.js";
import { Bar, group, Keys } from "./bar.js";
import { unitsOf } from "./commands.js";
import { drag, dragFrom } from "./drag.js";
import { Finder } from "./finder.js";
import { Here } from "./here.js";
import { Pick, quotation } from "./pick.js";
import { Selecting } from "./picking.js";
import { Find, Tabs } from "./reading.js";
import { holds, hues } from "../shared/spans.js";
import { HUES, paint, Texts } from "./text.js";
import { Tiers } from "./tiers.js";
import { View } from "./view.js";
import { Ways } from "./ways.js";
import { Work } from "./work.js";

/** @import { Action } from "./bar.js" */
/** @import { Command, Event as Change, State, Unit } from "./commands.js" */
/** @import { Target } from "./drag.js" */
/** @import { Span } from "../shared/spans.js" */
/** @import { Text } from "./text.js" */
/** @import { Card, Filter, Quote } from "./tiers.js" */
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

  /** @param {HTMLElement} main @param {State} state */
  constructor(main, state) {
    this.me = String(main.dataset.me);
    this.work = new Work(state, this.me);
    this.texts = new Texts(state.texts, this.role, byId("texts"));
    this.ways = new Ways(this);
    this.tabs = new Tabs(this.texts, this.role);
    this.pick = new Pick(() => this.#picked());
    this.selecting = new Selecting(this.texts, this.pick, {
      onHover: (text, place) => this.#hovered(text, place),
      onCursor: (text, place) => this.here.at(this.unitsAt(text, place)),
      onDrag: (event) =>
        this.mayEdit && drag(event, { shown: quotation(this.pick), target: (node) => this.dropOf(node) }),
      onGo: (text) => this.tabs.show(text),
      say: announce,
    });
    this.tiers = new Tiers(byId("tiers"), {
      top: state.pyramid.references.length,
      draw: (unit, card) => this.drawCard(unit, card),
      key: (unit) => this.cardKey(unit),
      words: (unit) => this.quotesOf(unit),
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
      leave: () => (this.finder.asking ? this.finder.answer(null) : this.ways.backToText()),
    });
    this.find = new Find(this.texts, {
      show: (text) => this.tabs.show(text),
      leave: (text, place) => (text && place !== undefined ? this.selecting.goTo(text, place) : this.ways.backToText()),
    });
    this.here = new Here(this);
    this.view = new View(main, {
      onLayout: (layout) => {
        this.tabs.layout = layout;
      },
    });
    this.keys = new Keys(() => this.actions(), { undo: () => this.undo(), redo: () => this.redo() });
    const history = { undo: () => this.undo(), redo: () => this.redo() };
    this.bar = new Bar(this.work, { ...history, help: () => this.keys.help() });
    byId("tiers").addEventListener("keydown", (event) => this.#listKey(event));
    byId("idle").addEventListener("click", () => this.#toggleIdle());
    byId("tree").addEventListener("click", () => this.showWords(!this.view.tree));
    this.showWords(this.view.tree);
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

  /** The words of a unit, as the tree below its card has them. @param {Unit} _unit @returns {Quote[]} */
  quotesOf(_unit) {
    return [];
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

  /** What every editor has for getting around. */
  finding() {
    const texts = this.texts.all.length > 1;
    const numbers = Array.from({ length: 10 }, (_, i) => ({
      id: `number-${i}`,
      key: String((i + 1) % 10),
      shown: i ? "" : texts ? "1 … 9, 0" : "1 2 3",
      title: `with words picked: into the likely unit shown${texts ? "; otherwise: to this reference" : ""}`,
      run: () => this.number(i),
    }));
    return [
      ...group("Find", [
        { id: "search", key: "/", title: "search units; Enter takes the first", run: () => this.finder.focus() },
        { id: "find", key: "f", title: "find words in the texts; Enter goes on", run: () => this.find.focus() },
        { id: "go", key: "g", title: "between the text and its units", run: () => this.ways.cross() },
        {
          id: "clause",
          key: "i",
          title: "pick the next clause that no unit uses",
          run: () => this.selecting.pickNextClause() || say("Every clause is used."),
        },
        { id: "unused", key: "u", title: "the next words that no unit uses", run: () => this.ways.nextIdle() },
        ...numbers,
        { id: "help", key: "?", title: "this help", run: () => this.keys.help() },
      ]),
      ...group("View", [
        {
          id: "tree",
          key: "t",
          title: "the words of all units, or of none",
          run: () => this.showWords(!this.view.tree),
        },
        { id: "larger", key: "+", also: "=", title: "larger texts", run: () => this.view.resize(1) },
        { id: "smaller", key: "-", title: "smaller texts", run: () => this.view.resize(-1) },
        { id: "dense", key: "o", title: "compact or comfortable", run: () => this.view.toggleDense() },
      ]),
    ];
  }

  /** A digit: the likely unit of this number for what is picked, or the text of this number. @param {number} at */
  number(at) {
    if (this.pick.empty || !this.mayEdit) return this.texts.all.length > 1 && this.tabs.go(at);
    const unit = this.here.likely[at];
    if (unit) this.take(unit.id);
    else say("No unit is likely for these words: search with /, or start a new one.");
  }

  /** Show the words of all units below them, or of none. @param {boolean} all */
  showWords(all) {
    this.view.tree = all;
    byId("tree").setAttribute("aria-pressed", String(all));
    this.tiers.openAll(all);
    this.tiers.reveal(this.current);
  }

  begin() {
    this.show();
    this.#followHash();
    if (this.view.suggesting && this.mayEdit) this.run("suggest");
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
    const colours = hues(this.mentions, HUES);
    for (const text of this.texts.all) {
      const own = this.mentions.filter((mention) => mention.text === text.name);
      text.shade(own, idle, colours);
    }
    if (this.current !== null && !this.unit(this.current)) this.current = null;
    this.tiers.update(this.units);
    this.tiers.colour(colours);
    this.finder.apply();
    this.tiers.current(this.current);
    this.#paintCurrent();
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

  #paintCurrent() {
    this.#paintUnits("current", this.current === null ? [] : [this.current]);
    const mine = this.mentions.filter(({ unit, spans }) => unit === this.current && spans.length);
    this.tabs.mark(new Set(this.current === null ? [] : mine.map(({ text }) => text)));
  }

  /** Make a unit the current one. @param {string | null} id */
  choose(id, { reveal = false } = {}) {
    if (this.current === id) return;
    this.current = id;
    this.tiers.current(id);
    this.#paintCurrent();
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
    this.here.at(place === null ? this.underCursor() : ids);
  }

  /** The units that use the word under the cursor. */
  underCursor() {
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
    this.ways.backToText();
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
    if (this.pick.empty || !this.mayEdit) return this.ways.goToWords(id);
    this.take(id);
  }

  // -- changes -------------------------------------------------------------------------------------------------

  undo() {
    const { undoable, state } = this.work;
    hush(); // what was said about the change no longer holds
    if (undoable) {
      say(`Undone: ${undoable}`);
      return this.work.undo();
    }
    say(state.starts_with ? "Undo stops here: this is what the annotation began with." : "There is nothing to undo.");
  }

  redo() {
    if (!this.work.redoable) return say("There is nothing to redo.");
    say(`Redone: ${this.work.redoable}`);
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

/** @param {Command} command */
const describe = ({ type, label }) => (label ? `${type.replaceAll("_", " ")}: “${label}”` : type.replaceAll("_", " "));
