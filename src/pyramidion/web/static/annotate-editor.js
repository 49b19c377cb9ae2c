// What both editors share: texts on one side, the pyramid on the other, one current unit, one pick, one annotation.
// An editor of a kind says what is mentioned where, how a card looks, and what can be done.

import { byId, el } from "./manager-dom.js";
import { announce, say } from "./manager-live.js";
import { Bar, notice } from "./annotate-bar.js";
import { drag, dragFrom } from "./annotate-drag.js";
import { unitsOf } from "./annotate-edit.js";
import { Finder } from "./annotate-finder.js";
import { Here } from "./annotate-here.js";
import { Keys } from "./annotate-keys.js";
import { paint } from "./annotate-paint.js";
import { Pick, quotation } from "./annotate-pick.js";
import { Selecting } from "./annotate-select.js";
import { Texts } from "./annotate-text.js";
import { Tiers } from "./annotate-tiers.js";
import { Work } from "./annotate-work.js";

const FLASH = 2600;
const REST = 250;

export class Editor {
  current = null;
  mentions = [];
  #lit = "";
  #hash = location.hash;

  constructor(main, state) {
    this.me = main.dataset.me;
    this.work = new Work(state, this.me);
    this.texts = new Texts(state.texts, this.role, byId("texts"));
    this.pick = new Pick(() => this.#picked());
    this.selecting = new Selecting(this.texts, this.pick, {
      onHover: (text, place) => this.#hovered(text, place),
      onCursor: (text, place) => this.here.at(text, this.unitsAt(text, place)),
      onDrag: (event) => this.mayEdit && drag(event, { shown: quotation(this.pick), target: (n, e) => this.dropOf(n, e) }),
      say: announce,
    });
    this.tiers = new Tiers(byId("tiers"), {
      top: state.pyramid.references.length,
      draw: (unit, card) => this.drawCard(unit, card),
      key: (unit) => this.cardKey(unit),
      hooks: {
        onFocus: (id) => (this.finder.asking ? this.light([id]) : this.choose(id)),
        onClick: (id) => this.clicked(id),
        onHover: (id) => this.light(id === null ? [] : [id]),
        onPress: (id, event) => this.mayEdit && this.pressCard && dragFrom(event, (move) => this.pressCard(id, move)),
      },
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
    byId("idle").addEventListener("click", ({ currentTarget }) => this.#toggleIdle(currentTarget));
    this.#listen();
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

  unit = (id) => this.units.find((unit) => unit.id === id);

  begin() {
    this.show();
    this.#followHash();
    addEventListener("hashchange", () => this.#followHash());
    return this.work.start();
  }

  #listen() {
    const on = (type, run) => this.work.addEventListener(type, ({ detail }) => run(detail));
    on("change", ({ events }) => {
      this.show();
      this.#others(events.filter((event) => event.author !== this.me));
    });
    on("named", ({ from, to }) => {
      this.tiers.rename(from, to); // the state with this name is shown right after
      if (this.current !== from) return;
      this.current = to;
      this.#setHash(to);
    });
    on("refused", ({ reason }) => say(reason));
    on("conflict", (detail) => this.#conflict(detail));
    on("gone", ({ error }) => notice("bad", [error.message], []));
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
    this.detail.update();
    this.here.update();
    this.bar.update();
  }

  #paintUnits(layer, ids) {
    for (const text of this.texts.all) {
      const mine = this.mentions.filter((mention) => mention.text === text.name && ids.includes(mention.unit));
      text.paint(
        layer,
        mine.flatMap((mention) => mention.spans),
      );
    }
  }

  /** Make a unit the current one. */
  choose(id, { reveal = false } = {}) {
    if (this.current === id) return;
    this.current = id;
    this.tiers.current(id);
    this.#paintUnits("current", id === null ? [] : [id]);
    this.detail.update();
    this.here.update();
    if (reveal) this.tiers.reveal(id);
    this.#setHash(id);
  }

  /** The address follows at rest: on the way through a list it would only cost time. */
  #setHash(id) {
    clearTimeout(this.addressing);
    this.addressing = setTimeout(() => {
      history.replaceState(null, "", id === null ? location.pathname : `#unit=${encodeURIComponent(id)}`);
      this.#hash = location.hash;
    }, REST);
  }

  /** Light units: their cards, and their words in every text. */
  light(ids) {
    const key = ids.join("\n");
    if (key === this.#lit) return;
    this.#lit = key;
    this.tiers.mark("a-lit", ids);
    this.#paintUnits("lit", ids);
  }

  unitsAt(text, place) {
    if (place === null) return [];
    const [[point]] = text.places.toPoints([[place, place]]);
    const here = ({ spans }) => spans.some(([start, end]) => start <= point && point < end);
    return [...new Set(this.mentions.filter((m) => m.text === text.name && here(m)).map((m) => m.unit))];
  }

  #hovered(text, place) {
    const ids = this.unitsAt(text, place);
    this.light(ids);
    this.here.at(text, place === null && this.selecting.cursor ? this.#underCursor() : ids);
  }

  #underCursor() {
    const { text, word } = this.selecting.cursor;
    return this.unitsAt(text, text.words.spans[word][0]);
  }

  #picked() {
    for (const text of this.texts.all) paint.set("picked", text.node, this.pick.spans(text));
    this.here.update();
  }

  // -- going somewhere -----------------------------------------------------------------------------------------

  #followHash() {
    const found = /^#unit=(.+)$/.exec(location.hash);
    if (!found) return;
    const id = decodeURIComponent(found[1]);
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
    const ids = this.selecting.cursor ? this.#underCursor() : [];
    const next = ids[(ids.indexOf(this.current) + 1) % ids.length] ?? this.current ?? this.tiers.ids[0];
    if (next === undefined) return;
    this.tiers.focus(next);
    this.choose(next, { reveal: true });
  }

  /** The words of a unit in the texts, one after the other. */
  goToWords(id) {
    const mine = this.mentions.filter((mention) => mention.unit === id && mention.spans.length);
    if (!mine.length) return say("This unit has no words here.");
    this.at = (this.lastWent === id ? this.at + 1 : 0) % mine.length;
    this.lastWent = id;
    const text = this.texts.get(mine[this.at].text);
    const [[place]] = text.places.toUnits(mine[this.at].spans);
    this.selecting.goTo(text, place);
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

  #toggleIdle(button) {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    this.show();
  }

  // -- the list ------------------------------------------------------------------------------------------------

  clicked(id) {
    if (this.finder.asking) return this.finder.answer(id);
    this.choose(id);
  }

  entered(id) {
    if (this.finder.asking) return this.finder.answer(id);
    this.choose(id, { reveal: true });
    if (this.pick.empty || !this.mayEdit) return this.tiers.focus(id);
    this.finder.clear();
    this.take(id);
    this.backToText();
  }

  #listKey(event) {
    if (event.key === "Escape" && this.finder.asking) {
      event.preventDefault();
      return this.finder.answer(null);
    }
    if (event.key !== "Enter" || !event.target.closest(".a-unit") || event.altKey) return;
    event.preventDefault();
    const id = event.target.closest("[data-unit]").dataset.unit;
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

  #others(events) {
    if (!events.length) return;
    const ids = [...new Set(events.flatMap((event) => unitsOf(event.command) ?? []))];
    this.tiers.mark("a-flash", ids);
    this.#paintUnits("flash", ids);
    clearTimeout(this.flashing);
    this.flashing = setTimeout(() => {
      this.tiers.mark("a-flash", []);
      paint.clear("flash");
    }, FLASH);
    const [last, more] = [events.at(-1), events.length - 1];
    say([el("bdi", {}, last.author), ` ${last.says}`, more > 0 && ` (and ${more} more)`].filter(Boolean));
  }

  #conflict({ command, events, reason }) {
    const theirs = events.map((event) => [el("bdi", {}, el("strong", {}, event.author)), ` ${event.says}.`]);
    notice(
      "warn",
      [
        el("strong", {}, `Your change was not made (${describe(command)}): somebody else was there first.`),
        ...(theirs.length ? theirs : [[reason]]),
      ],
      [{ title: "Make mine too", run: () => this.work.do(command) }, { title: "Leave it" }],
    );
  }
}

/** Whether a free word merely goes on from the one before: a jump goes to the next stretch. */
function follows(text, span, previous, start) {
  if (!previous) return false;
  const at = text.words.at(span[0]);
  const free = new Set(text.free.map(([from]) => from));
  for (let word = at; word >= 0 && text.words.spans[word][0] >= start; word -= 1) {
    if (!free.has(text.words.spans[word][0])) return false;
  }
  return true;
}

const describe = ({ type, label }) => (label ? `${type.replaceAll("_", " ")}: “${label}”` : type.replaceAll("_", " "));
