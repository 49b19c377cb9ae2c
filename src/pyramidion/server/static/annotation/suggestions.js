// @ts-check
// What a program suggests: for a unit of a pyramid, words that may belong to it and units that may say the same; for a
// summary, units that it may express. Nothing is ever applied by itself, and nothing suggested looks like a decision.

import { get, path } from "../shared/api.js";
import { byId, el, put } from "../shared/dom.js";
import { fixed } from "../shared/format.js";
import { say } from "../shared/messages.js";
import { isProvisional } from "./commands.js";
import { paint } from "./text.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { Action } from "./bar.js" */
/** @import { Editor } from "./editor.js" */
/** @import { PeerEditor } from "./peer.js" */
/** @import { Unit } from "./commands.js" */
/** @import { Span } from "../shared/spans.js" */
/**
 * @typedef {{ unit: string, spans: Span[], similarity?: number }} Proposal
 * @typedef {{ reference: string, spans: Span[], text: string, similarity: number }} SuggestedWords
 * @typedef {{ unit: string, label: string, similarity: number }} SuggestedUnit
 *
 * @typedef {object} Item
 * @property {string} key under which it is dismissed
 * @property {Child} shown
 * @property {number | undefined} similarity
 * @property {string} verb
 * @property {() => unknown} accept
 * @property {() => void} hint shows what it is about, for as long as it is looked at
 */

const PAUSE = 250;

/** A button that opens a list of suggestions. */
class Suggesting {
  on = false;
  /** @type {Set<string>} */
  #dismissed = new Set();

  /** @param {Editor} editor @param {{ title: string, label: string, noun: string }} words */
  constructor(editor, { title, label, noun }) {
    this.editor = editor;
    this.noun = noun;
    const about = { type: "button", "data-act": "suggest", "aria-expanded": "false", title: `${title} (S)` };
    this.button = el("button.a-tool", about, label);
    this.list = el("div.a-suggestions", { "aria-live": "polite" });
    this.node = el("section.a-suggest", { "aria-label": title }, this.button, this.list);
  }

  toggle() {
    this.on = !this.on;
    this.button.setAttribute("aria-expanded", String(this.on));
    this.editor.view.suggesting = this.on;
    byId("main").classList.toggle("a-suggesting", this.on); // room for them
    if (this.on) this.load();
    else this.clear();
  }

  load() {}

  /** Show what is still open. */
  refresh() {}

  clear() {
    paint.clear("hint");
    put(this.list);
  }

  /** @param {string} text @param {string} [kind] */
  say(text, kind = "p.muted.small") {
    put(this.list, el(kind, text));
    this.node.scrollIntoView({ block: "nearest" });
  }

  /** @param {[title: string, items: Item[]][]} groups @param {string} none */
  show(groups, none) {
    const full = groups
      .map(([title, items]) => /** @type {const} */ ([title, items.filter(({ key }) => !this.#dismissed.has(key))]))
      .filter(([, items]) => items.length > 0);
    if (!full.length) return this.say(none);
    put(
      this.list,
      full.map(([title, items]) => [el("h3", title), el("ul", ...items.map((item) => this.#item(item)))]),
    );
    this.#point();
  }

  /** Into view, and the words of the first one too, which E accepts and D dismisses. */
  #point() {
    const first = this.list.querySelector("li");
    if (!first) return;
    first.classList.add("a-next");
    const [accept, dismiss] = [first.querySelector(".a-tool"), first.querySelector(".a-cross")];
    accept?.append(" ", el("kbd", "E"));
    accept?.setAttribute("aria-keyshortcuts", "E");
    dismiss?.setAttribute("aria-keyshortcuts", "D");
    dismiss?.setAttribute("title", "Dismiss (D)");
    first.dispatchEvent(new Event("pointerenter"));
    this.list.querySelector("h3")?.scrollIntoView({ block: "nearest" });
    first.scrollIntoView({ block: "nearest" });
  }

  /** Accept or dismiss the first one. @param {".a-tool" | ".a-cross"} which */
  settleFirst(which) {
    /** @type {HTMLElement | null} */
    const button = this.list.querySelector(`li ${which}`);
    if (button) button.click();
    else say(this.on ? `There is no ${this.noun}.` : `Press S for ${this.noun}s first.`);
  }

  /** The keys for all that, in the help. @returns {Omit<Action, "group">[]} */
  get actions() {
    return [
      { id: "suggest", key: "s", title: `${this.noun}s`, run: () => this.toggle() },
      { id: "accept", key: "e", title: `accept the first ${this.noun}`, run: () => this.settleFirst(".a-tool") },
      { id: "dismiss", key: "d", title: `dismiss the first ${this.noun}`, run: () => this.settleFirst(".a-cross") },
    ];
  }

  /** @param {Item} item */
  #item({ key, shown, similarity, verb, accept, hint }) {
    const leave = () => {
      paint.clear("hint");
      this.editor.light([]);
    };
    /** @param {() => unknown} act */
    const settle = (act) => () => {
      const at = [...this.list.querySelectorAll("li")].indexOf(node);
      const focused = this.node.contains(document.activeElement);
      leave();
      if (act() === false) return;
      this.refresh();
      const left = this.list.querySelectorAll("li");
      if (focused) (left[Math.min(at, left.length - 1)]?.querySelector("button") ?? this.button).focus();
    };
    const dismiss = settle(() => this.#dismissed.add(key));
    const cross = { type: "button", "aria-label": `Dismiss the ${this.noun}`, onclick: dismiss };
    const node = el(
      "li.a-suggestion",
      { onpointerenter: hint, onpointerleave: leave, onfocusin: hint, onfocusout: leave },
      shown,
      similarity !== undefined && el("span.muted.small", { title: "Similarity" }, fixed(similarity)),
      this.editor.mayEdit && el("button.a-tool", { type: "button", onclick: settle(accept) }, verb),
      el("button.a-cross", cross, "×"),
    );
    return node;
  }
}

/** Suggestions for the current unit of a pyramid. */
export class UnitSuggestions extends Suggesting {
  /** @type {Unit | null} */
  #unit = null;
  /** @type {{ contributors: SuggestedWords[], same: SuggestedUnit[] } | null} */
  #offered = null;
  /** The references that the unit had when that was asked for: none of their words are in it. @type {string[]} */
  #had = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #asking = new AbortController();

  /** @param {Editor} editor */
  constructor(editor) {
    super(editor, { title: "Suggestions", label: "Suggest", noun: "suggestion" });
  }

  /**
   * The unit that is current now; another one is asked about only after a moment's rest.
   * @param {Unit | null} unit @param {boolean} changed
   */
  about(unit, changed) {
    this.#unit = unit;
    if (!changed) return this.refresh();
    this.clear();
    if (this.on && unit) this.load(PAUSE);
  }

  clear() {
    clearTimeout(this.#timer);
    this.#asking.abort();
    this.#offered = null;
    super.clear();
  }

  load(wait = 0) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), wait);
  }

  async #ask() {
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    this.say("Looking …");
    await this.editor.work.settled(); // what the server holds is what it looks at
    const unit = this.#unit;
    if (signal.aborted || !unit || isProvisional(unit.id)) return;
    this.#had = unit.contributors.map(({ reference }) => reference);
    try {
      const address = path`/api/annotate/${this.editor.work.id}/suggestions?unit=${unit.id}`;
      this.#offered = await get(address, { signal });
      this.refresh();
    } catch (/** @type {any} */ error) {
      if (!signal.aborted) this.say(error.message, "p.small");
    }
  }

  /** A reference contributes once: what else it says is offered while it does not. */
  refresh() {
    const { editor } = this;
    const unit = this.#unit;
    if (!unit || !this.#offered) return;
    const has = new Set(unit.contributors.map(({ reference }) => reference));
    if (this.#had.some((reference) => !has.has(reference))) {
      this.clear();
      return this.load();
    }
    const words = this.#offered.contributors.filter(({ reference }) => !has.has(reference));
    const belonging = words.map(({ reference, spans, text, similarity }) => ({
      key: JSON.stringify([unit.id, reference, spans]),
      shown: [el("bdi.a-from", reference), el("bdi.a-suggested", text)],
      similarity,
      verb: "Add",
      accept: () => editor.work.do({ type: "add_contributor", unit: unit.id, reference, spans }),
      hint: () => editor.ways.hint(reference, spans),
    }));
    const units = this.#offered.same.filter((each) => editor.unit(each.unit));
    const same = units.map(({ unit: other, label, similarity }) => ({
      key: JSON.stringify([unit.id, other]),
      shown: [el("bdi.a-from", "unit"), el("bdi.a-suggested", label || "no label")],
      similarity,
      verb: "Merge",
      accept: () => editor.work.do({ type: "merge_units", units: [unit.id, other] }),
      hint: () => editor.light([other]),
    }));
    this.show(
      [
        ["Suggestion: may belong here", belonging],
        ["Suggestion: may say the same", same],
      ],
      "No suggestions for this unit.",
    );
  }
}

/**
 * Proposals for a summary: units whose words occur in it too (as found in other annotated summaries), and similar
 * ones.
 */
export class Proposals extends Suggesting {
  /** @type {{ proposals: Proposal[], likely: Proposal[] } | null} */
  #offered = null;

  /** @param {PeerEditor} editor */
  constructor(editor) {
    super(editor, { title: "Proposals", label: "Proposals", noun: "proposal" });
    this.matches = () => editor.peer.matches;
  }

  async load() {
    this.say("Looking …");
    await this.editor.work.settled();
    try {
      this.#offered = await get(path`/api/annotate/${this.editor.work.id}/suggestions`);
      this.refresh();
    } catch (/** @type {any} */ error) {
      this.say(error.message, "p.small");
    }
  }

  /** Words matched elsewhere may repeat a unit; similar ones are asked about while their unit is not matched. */
  refresh() {
    if (!this.on || !this.#offered) return;
    const matches = this.matches();
    const taken = new Set(matches.map(key));
    const matched = new Set(matches.map(({ unit }) => unit));
    const proposals = this.#offered.proposals.filter((each) => !taken.has(key(each)));
    const likely = this.#offered.likely.filter(({ unit }) => !matched.has(unit));
    this.show(
      [
        ["Proposal: matched in other summaries", proposals.map((each) => this.#itemOf(each))],
        ["Proposal: similar words", likely.map((each) => this.#itemOf(each))],
      ],
      "No proposals.",
    );
  }

  /** @param {Proposal} proposal @returns {Item} */
  #itemOf(proposal) {
    const { editor } = this;
    const { unit: id, spans, similarity } = proposal;
    const [text] = editor.texts.all;
    const unit = editor.unit(id);
    const words = el("bdi.a-suggested-words", text.quote(text.places.toUnits(spans)));
    return {
      key: key(proposal),
      shown: [
        el("span.a-weight", String(unit?.weight ?? "")),
        el("span.a-suggested", el("bdi", unit?.label || id), words),
      ],
      similarity,
      verb: "Accept",
      accept: () => editor.work.do({ type: "match_unit", unit: id, spans }),
      hint: () => {
        editor.ways.hint(text.name, spans);
        editor.light([id]);
      },
    };
  }
}

/** @param {{ unit: string, spans: Span[] }} mention */
const key = ({ unit, spans }) => JSON.stringify([unit, spans]);
