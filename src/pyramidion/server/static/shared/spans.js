// @ts-check
// Spans and words of a text. The server counts Unicode code points, the browser UTF-16 units; here, and nowhere else,
// one becomes the other.

/** @typedef {[start: number, end: number]} Span */

/** The places of one text in both ways of counting. A text without characters beyond U+FFFF counts the same in both. */
export class Places {
  /** @type {number[]} */
  #points = [];
  /** @type {number[]} */
  #units = [];

  /** @param {string} text */
  constructor(text) {
    this.same = !/[\ud800-\udfff]/.test(text);
    if (this.same) return;
    for (const character of text) {
      for (let i = 0; i < character.length; i += 1) this.#points.push(this.#units.length); // its inside is the character
      this.#units.push(this.#points.length - character.length);
    }
    this.#points.push(this.#units.length);
    this.#units.push(text.length);
  }

  /** @param {Span[]} spans @returns {Span[]} */
  toPoints = (spans) => (this.same ? spans : spans.map(([start, end]) => [this.#points[start], this.#points[end]]));

  /** @param {Span[]} spans @returns {Span[]} */
  toUnits = (spans) => (this.same ? spans : spans.map(([start, end]) => [this.#units[start], this.#units[end]]));
}

/** How many code points a text has. @param {string} text */
export const pointCount = (text) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);

/** The same characters in the order of the text, where pieces that overlap or touch are one. @param {Span[]} spans */
export function union(spans) {
  /** @type {Span[]} */
  const made = [];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = made.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else made.push([start, end]);
  }
  return made;
}

/** The characters of the first that are in none of the second. @param {Span[]} spans @param {Span[]} removed */
export function difference(spans, removed) {
  let left = union(spans);
  for (const [start, end] of union(removed)) {
    /** @type {Span[]} */
    const before = left.map((span) => [span[0], Math.min(span[1], start)]);
    /** @type {Span[]} */
    const after = left.map((span) => [Math.max(span[0], end), span[1]]);
    left = union([...before, ...after].filter((span) => span[0] < span[1]));
  }
  return left;
}

/** @param {Span[]} spans @param {number} place */
export const holds = (spans, place) => spans.some(([start, end]) => start <= place && place < end);
/** @param {Span[]} some @param {Span[]} others */
export const sameSpans = (some, others) => JSON.stringify(union(some)) === JSON.stringify(union(others));

/**
 * How often each stretch of a text is used, in order, unused text left out.
 * @param {Span[]} spans
 * @returns {[start: number, end: number, times: number][]}
 */
export function depths(spans) {
  /** @type {Map<number, number>} */
  const steps = new Map();
  /** @param {number} place @param {number} by */
  const step = (place, by) => steps.set(place, (steps.get(place) ?? 0) + by);
  for (const [start, end] of spans) {
    step(start, 1);
    step(end, -1);
  }
  /** @type {[number, number, number][]} */
  const stretches = [];
  let depth = 0;
  let from = 0;
  for (const place of [...steps.keys()].sort((a, b) => a - b)) {
    if (depth > 0) stretches.push([from, place, depth]);
    depth += steps.get(place) ?? 0;
    from = place;
  }
  return stretches;
}

/**
 * Those of the spans, all in order and apart, that overlap none of the others, which are so too.
 * @param {Span[]} spans
 * @param {[start: number, end: number, ...unknown[]][]} others
 */
export function outside(spans, others) {
  let at = 0;
  return spans.filter(([start, end]) => {
    while (at < others.length && others[at][1] <= start) at += 1;
    return at === others.length || end <= others[at][0];
  });
}

// -- units told apart ----------------------------------------------------------------------------------------

/** @typedef {{ unit: string | null, text: string, spans: Span[] }} Used where a unit, or none, uses words of a text */
/** @typedef {{ start: number, end: number, unit: string }} Piece */

/** Words of two units that have no more than this between them look like one stretch. */
const NEAR = 3;

/** The pieces of units in a text, in order. @param {Used[]} mentions @returns {Piece[]} */
export function pieces(mentions) {
  const all = mentions.flatMap(({ unit, spans }) =>
    unit === null ? [] : spans.map(([start, end]) => ({ start, end, unit })),
  );
  return all.sort((one, other) => one.start - other.start || other.end - one.end);
}

/**
 * A hue, from 0 on, for each unit: units whose words meet or overlap in any text have different ones, as far as there
 * are hues. Earlier units keep theirs when others are added.
 * @param {Used[]} mentions
 * @param {number} count
 * @returns {Map<string, number>}
 */
export function hues(mentions, count) {
  /** @type {Map<string, Set<string>>} */
  const near = new Map(mentions.flatMap(({ unit }) => (unit === null ? [] : [[unit, new Set()]])));
  for (const text of new Set(mentions.map((mention) => mention.text))) {
    /** @type {Piece[]} */
    let open = [];
    for (const piece of pieces(mentions.filter((mention) => mention.text === text))) {
      open = open.filter((other) => other.end + NEAR >= piece.start);
      for (const { unit } of open) {
        if (unit === piece.unit) continue;
        near.get(unit)?.add(piece.unit);
        near.get(piece.unit)?.add(unit);
      }
      open.push(piece);
    }
  }
  /** @type {Map<string, number>} */
  const given = new Map();
  for (const [unit, others] of near) {
    const taken = new Set([...others].map((other) => given.get(other)));
    const free = Array.from({ length: count }, (_, i) => (given.size + i) % count).find((hue) => !taken.has(hue));
    given.set(unit, free ?? given.size % count);
  }
  return given;
}

/**
 * Pieces in lanes, so that those that overlap are drawn below each other; what is too deep shares the last lane.
 * @param {Piece[]} ordered
 * @param {number} count
 */
export function lanes(ordered, count) {
  const ends = Array.from({ length: count }, () => 0);
  return ordered.map((piece) => {
    const free = ends.findIndex((end) => end <= piece.start);
    const lane = free < 0 ? count - 1 : free;
    ends[lane] = Math.max(ends[lane], piece.end);
    return { ...piece, lane };
  });
}

// -- words ---------------------------------------------------------------------------------------------------

const WORDS = new Intl.Segmenter("en", { granularity: "word" });
const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });
/** What is worth a stop without being a word: emoji, currency, percent; not commas, quotes and full stops. */
const SYMBOL = /[^\s\p{P}\p{C}]|[%‰°&@#§]/u;
/** What ends a clause, where it stands between two words; a comma in a number does not. */
const CLAUSE_END = /[.,;:!?()…–—،؛。、，；：！？]|\n\s*\n/u;
/** Words with which an English clause often begins; in other languages punctuation alone tells. */
const CLAUSE_START = /^(and|but|because|which|who|that|while|after|before|when|where|although|whose)$/i;
const RTL = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** The words of a text, as places to stop at. Offsets are UTF-16. A boundary never falls inside a grapheme. */
export class Words {
  /** @type {number[] | null} */
  #graphemes = null;
  /** @type {number[] | null} */
  #sentences = null;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
    /** @type {Span[]} */
    this.spans = [];
    for (const { segment, index, isWordLike } of WORDS.segment(text)) {
      if (isWordLike || SYMBOL.test(segment)) this.spans.push([index, index + segment.length]);
    }
    this.rtl = RTL.test(text); // as dir="auto" decides it: by the first letter
  }

  get count() {
    return this.spans.length;
  }

  /** The word at a place, or the nearest; -1 where there are none. @param {number} place */
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

  /**
   * From one word to another, whichever comes first, with all between.
   * @param {number} one @param {number} other @returns {Span}
   */
  between(one, other) {
    return [this.spans[Math.min(one, other)][0], this.spans[Math.max(one, other)][1]];
  }

  /** The words that a range touches, or null. @param {number} start @param {number} end @returns {Span | null} */
  snap(start, end) {
    const touched = this.spans.filter((word) => word[0] < end && start < word[1]);
    return touched.length ? [touched[0][0], touched[touched.length - 1][1]] : null;
  }

  /**
   * One grapheme further or back from a place: for what words do not reach, like a full stop.
   * @param {number} place @param {number} by
   */
  step(place, by) {
    this.#graphemes ??= [...GRAPHEMES.segment(this.text)].map(({ index }) => index).concat(this.text.length);
    const at = this.#graphemes.findIndex((start) => start >= place);
    return this.#graphemes[Math.min(Math.max(at + by, 0), this.#graphemes.length - 1)];
  }

  /** The words at which sentences begin. */
  #starts() {
    this.#sentences ??= [...SENTENCES.segment(this.text)].map(({ index }) => this.after(index));
    return this.#sentences.filter((start) => start >= 0);
  }

  /** The first word of the next sentence, or of this one or the one before. @param {number} word @param {number} by */
  sentence(word, by) {
    const starts = this.#starts();
    if (by > 0) return starts.find((start) => start > word) ?? this.count - 1;
    return starts.findLast((start) => start < word) ?? 0;
  }

  /**
   * The words of the clause around a word, as far as punctuation and conjunctions tell.
   * @param {number} word @returns {[first: number, last: number]}
   */
  clause(word) {
    /** @param {number} one the earlier of two neighbours */
    const apart = (one) =>
      CLAUSE_END.test(this.text.slice(this.spans[one][1], this.spans[one + 1][0])) ||
      CLAUSE_START.test(this.text.slice(...this.spans[one + 1]));
    let [first, last] = [word, word];
    while (first > 0 && !apart(first - 1)) first -= 1;
    while (last < this.count - 1 && !apart(last)) last += 1;
    return [first, last];
  }

  /** The first and the last word of a word's sentence. @param {number} word @returns {[first: number, last: number]} */
  sentenceAround(word) {
    const starts = this.#starts();
    const next = starts.find((start) => start > word) ?? this.count;
    return [starts.findLast((start) => start <= word) ?? 0, next - 1];
  }

  /** The first word that does not begin before a place; -1 where there is none. @param {number} place */
  after(place) {
    return this.spans.findIndex(([start]) => start >= place);
  }
}
