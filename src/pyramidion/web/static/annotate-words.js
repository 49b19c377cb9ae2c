// The words of a text, as places to stop at. Offsets are UTF-16. A boundary never falls inside a grapheme.

const WORDS = new Intl.Segmenter("en", { granularity: "word" });
const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });
/** What is worth a stop without being a word: emoji, currency, percent; not commas, quotes and full stops. */
const SYMBOL = /[^\s\p{P}\p{C}]|[%‰°&@#§]/u;
const RTL = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

export class Words {
  #graphemes = null;
  #sentences = null;

  constructor(text) {
    this.text = text;
    this.spans = [];
    for (const { segment, index, isWordLike } of WORDS.segment(text)) {
      if (isWordLike || SYMBOL.test(segment)) this.spans.push([index, index + segment.length]);
    }
    this.rtl = RTL.test(text); // as dir="auto" decides it: by the first letter
  }

  get count() {
    return this.spans.length;
  }

  /** The word at a place, or the nearest; -1 where there are none. */
  at(place) {
    let [low, high] = [0, this.spans.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.spans[middle][1] <= place) low = middle + 1;
      else high = middle;
    }
    if (high > 0 && place < this.spans[low][0]) {
      return place - this.spans[low - 1][1] < this.spans[low][0] - place ? low - 1 : low;
    }
    return high;
  }

  /** From one word to another, whichever comes first, with all between. */
  between(one, other) {
    return [this.spans[Math.min(one, other)][0], this.spans[Math.max(one, other)][1]];
  }

  /** The words that a range touches, or null. */
  snap(start, end) {
    const touched = this.spans.filter((word) => word[0] < end && start < word[1]);
    return touched.length ? [touched[0][0], touched.at(-1)[1]] : null;
  }

  /** One grapheme further or back from a place: for what words do not reach, like a full stop. */
  step(place, by) {
    this.#graphemes ??= [...GRAPHEMES.segment(this.text)].map(({ index }) => index).concat(this.text.length);
    const at = this.#graphemes.findIndex((start) => start >= place);
    return this.#graphemes[Math.min(Math.max(at + by, 0), this.#graphemes.length - 1)];
  }

  /** The first word of the next sentence, or of this one or the one before. */
  sentence(word, by) {
    this.#sentences ??= [...SENTENCES.segment(this.text)].map(({ index }) => this.after(index));
    const starts = this.#sentences.filter((start) => start >= 0);
    if (by > 0) return starts.find((start) => start > word) ?? this.count - 1;
    return starts.findLast((start) => start < word) ?? 0;
  }

  /** The first word that does not begin before a place; -1 where there is none. */
  after(place) {
    return this.spans.findIndex(([start]) => start >= place);
  }
}
