// @ts-check
// The words that are picked now, and what they are to the server.

import { difference, holds, union } from "../shared/spans.js";

/** @import { Contributor } from "./commands.js" */
/** @import { Span } from "../shared/spans.js" */
/** @import { Text } from "./text.js" */

/** The words that are picked now: pieces of one or several texts, in UTF-16, and the piece that is still growing. */
export class Pick {
  /** @type {Map<Text, Span[]>} */
  #pieces = new Map();
  /** @type {{ text: Text, span: Span } | null} */
  #growing = null;
  #held = false;

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
  }

  get empty() {
    return !this.#growing && !this.#pieces.size;
  }

  get growing() {
    return this.#growing;
  }

  /** Whether further pieces are added to what is picked. */
  get held() {
    return this.#held;
  }

  /** @param {Text} text */
  spans(text) {
    const pieces = this.#pieces.get(text) ?? [];
    return this.#growing?.text === text ? union([...pieces, this.#growing.span]) : pieces;
  }

  /** In the order in which the texts were picked from. */
  get all() {
    const texts = new Set([...this.#pieces.keys(), ...(this.#growing ? [this.#growing.text] : [])]);
    return [...texts].map((text) => ({ text, spans: this.spans(text) }));
  }

  /** @param {Text} text @param {number} place */
  holds = (text, place) => holds(this.spans(text), place);

  /**
   * Begin a piece: instead of what is picked, or beside it where asked to, or where pieces are held.
   * @param {Text} text
   * @param {Span} span
   */
  begin(text, span, { beside = false } = {}) {
    if (beside || this.#held) this.#settle();
    else this.#pieces.clear();
    this.#held ||= beside;
    this.#growing = { text, span };
    this.onChange();
  }

  /** @param {Span} span */
  grow(span) {
    if (!this.#growing) return;
    this.#growing = { ...this.#growing, span };
    this.onChange();
  }

  /** Keep what is picked while further pieces are added. */
  hold() {
    this.#settle();
    this.#held = true;
    this.onChange();
  }

  /** Put a word in, or take it out if it is in. @param {Text} text @param {Span} span */
  toggle(text, span) {
    this.#settle();
    const pieces = this.#pieces.get(text) ?? [];
    this.#set(text, holds(pieces, span[0]) ? difference(pieces, [span]) : union([...pieces, span]));
    this.#held = true;
    this.onChange();
  }

  clear() {
    if (this.empty && !this.#held) return;
    this.#pieces.clear();
    this.#growing = null;
    this.#held = false;
    this.onChange();
  }

  #settle() {
    if (!this.#growing) return;
    const { text, span } = this.#growing;
    this.#growing = null;
    this.#set(text, union([...(this.#pieces.get(text) ?? []), span]));
  }

  /** @param {Text} text @param {Span[]} spans */
  #set(text, spans) {
    if (spans.length) this.#pieces.set(text, spans);
    else this.#pieces.delete(text);
  }
}

/** The pick as contributors: spans in code points. @param {Pick} pick @returns {Contributor[]} */
export function contributors(pick) {
  return pick.all.map(({ text, spans }) => ({ reference: text.name, spans: text.places.toPoints(spans) }));
}

/** @param {Pick} pick */
export const quotation = (pick) => pick.all.map(({ text, spans }) => text.quote(spans)).join(" … ");
