// Spans. The server counts Unicode code points, the browser UTF-16 units; here, and nowhere else, one becomes the other.

/** The places of one text in both ways of counting. A text without characters beyond U+FFFF counts the same in both. */
export class Places {
  #points = null;
  #units = null;

  constructor(text) {
    this.length = text.length;
    if (/[\ud800-\udfff]/.test(text)) this.#count(text);
  }

  #count(text) {
    this.#points = new Uint32Array(text.length + 1);
    this.#units = [];
    let point = 0;
    for (let unit = 0; unit < text.length; point += 1) {
      const size = text.codePointAt(unit) > 0xffff ? 2 : 1;
      this.#units.push(unit);
      this.#points.fill(point, unit, unit + size); // the inside of a character is the character
      unit += size;
    }
    this.#points[text.length] = point;
    this.#units.push(text.length);
  }

  toPoints = (spans) => (this.#points ? spans.map((span) => span.map((place) => this.#points[place])) : spans);

  toUnits = (spans) => (this.#units ? spans.map((span) => span.map((place) => this.#units[place])) : spans);
}

/** The same characters in the order of the text, where pieces that overlap or touch are one. */
export function union(spans) {
  const made = [];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = made.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else made.push([start, end]);
  }
  return made;
}

/** The characters of the first that are in none of the second. */
export function difference(spans, removed) {
  let left = union(spans);
  for (const [start, end] of union(removed)) {
    left = left
      .flatMap((span) => [
        [span[0], Math.min(span[1], start)],
        [Math.max(span[0], end), span[1]],
      ])
      .filter((span) => span[0] < span[1]);
  }
  return left;
}

export const holds = (spans, place) => spans.some(([start, end]) => start <= place && place < end);
export const overlaps = (spans, [start, end]) => spans.some((span) => span[0] < end && start < span[1]);
export const sameSpans = (some, others) => JSON.stringify(union(some)) === JSON.stringify(union(others));

/** How often each stretch of a text is used: [[start, end, times], ...] in order, unused text left out. */
export function depths(spans) {
  const steps = new Map();
  const step = (place, by) => steps.set(place, (steps.get(place) ?? 0) + by);
  for (const [start, end] of spans) {
    step(start, 1);
    step(end, -1);
  }
  const found = [];
  let depth = 0;
  let from = 0;
  for (const place of [...steps.keys()].sort((a, b) => a - b)) {
    if (depth > 0) found.push([from, place, depth]);
    depth += steps.get(place);
    from = place;
  }
  return found;
}

/** Those of the spans, all in order and apart, that overlap none of the others, which are so too. */
export function outside(spans, others) {
  let at = 0;
  return spans.filter(([start, end]) => {
    while (at < others.length && others[at][1] <= start) at += 1;
    return at === others.length || end <= others[at][0];
  });
}
