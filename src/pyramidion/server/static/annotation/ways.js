// @ts-check
// Ways through an editor: between the text and its units, to the words of a unit, to what no unit uses.

import { byId } from "../shared/dom.js";
import { say } from "../shared/messages.js";

/** @import { Editor } from "./editor.js" */
/** @import { Span } from "../shared/spans.js" */
/** @import { Text } from "./text.js" */

export class Ways {
  /** Which words of which unit were gone to last. @type {{ unit: string | null, at: number }} */
  #went = { unit: null, at: 0 };

  /** @param {Editor} editor */
  constructor(editor) {
    this.editor = editor;
  }

  backToText() {
    const text = this.editor.selecting.cursor?.text ?? this.editor.texts.all[0];
    text?.body.focus({ preventScroll: true });
  }

  /** From the text to the unit there, from unit to unit where there are several; from the list back to the text. */
  cross() {
    if (byId("tiers").contains(document.activeElement)) return this.backToText();
    const ids = this.editor.underCursor();
    const next =
      ids[(ids.indexOf(this.editor.current ?? "") + 1) % ids.length] ?? this.editor.current ?? this.editor.tiers.ids[0];
    if (next === undefined) return;
    this.editor.tiers.focus(next);
    this.editor.choose(next, { reveal: true });
  }

  /** The words of a unit in the texts, one after the other. @param {string | null} id */
  goToWords(id) {
    const mine = this.editor.mentions.filter((mention) => mention.unit === id && mention.spans.length);
    if (id === null || !mine.length) return say("This unit has no words here.");
    this.#went = { unit: id, at: this.#went.unit === id ? (this.#went.at + 1) % mine.length : 0 };
    const { text, spans } = mine[this.#went.at];
    this.goTo(text, spans);
  }

  /** @param {string} name @param {Span[]} spans in code points */
  goTo(name, spans) {
    const text = this.editor.texts.get(name);
    if (text && spans.length) this.editor.selecting.goTo(text, text.places.toUnits(spans)[0][0]);
  }

  /** Point at words that a program suggests, without going there. @param {string} name @param {Span[]} spans */
  hint(name, spans) {
    const text = this.editor.texts.get(name);
    if (!text || !spans.length) return;
    this.editor.tabs.show(text);
    text.paint("hint", spans);
    text.reveal(text.places.toUnits(spans)[0]);
  }

  nextIdle() {
    const from = this.editor.selecting.cursor ?? { text: this.editor.texts.all[0], word: -1 };
    const here = this.editor.texts.all.indexOf(from.text);
    for (let step = 0; step <= this.editor.texts.all.length; step += 1) {
      const text = this.editor.texts.all[(here + step) % this.editor.texts.all.length];
      const start = step ? -1 : (from.text.words.spans[from.word]?.[0] ?? -1);
      const previous = step ? null : from.text.words.spans[from.word];
      const free = text.free.find((span) => span[0] > start && !follows(text, span, previous, start));
      if (free) return this.editor.selecting.goTo(text, free[0]);
    }
    say("Every word is used.");
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
