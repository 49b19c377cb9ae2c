// One text on the page: its node, its words, where a point of the screen lies in it, and what is painted on it.

import { el, plural, put, setText } from "./manager-dom.js";
import { paint } from "./annotate-paint.js";
import { Shade } from "./annotate-shade.js";
import { depths, outside, Places } from "./annotate-spans.js";
import { Words } from "./annotate-words.js";

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

export class Text {
  #shaded = "";
  #turns;
  #shade;
  #measure = document.createRange();

  /** role: what the text is to the annotator, e.g. "Reference". */
  constructor({ name, text }, role) {
    this.name = name;
    this.places = new Places(text);
    this.words = new Words(text);
    this.node = document.createTextNode(text);
    this.#turns = RIGHT_TO_LEFT.test(text);
    this.body = el(
      "div",
      {
        class: "text a-text",
        dir: "auto",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "text to annotate",
        "aria-label": `${role} ${name}, ${plural(this.words.count, "word")}`,
        "aria-describedby": "text-help",
      },
      this.node,
    );
    this.used = el("span", { class: "a-used" });
    this.title = el("h3", { class: "a-text-title" }, el("bdi", {}, name), this.used);
    this.#shade = new Shade(this);
    const sheet = el("div", { class: "a-sheet" }, this.#shade.node, this.body);
    this.pane = el("section", { class: "a-pane", "aria-label": `${role} ${name}` }, this.title, sheet);
  }

  slice = ([start, end]) => this.node.data.slice(start, end);

  /** The words of spans, pieces joined: "Growers … are suing the city". */
  quote = (spans) => spans.map(this.slice).join(" … ");

  /** Shade what is used by how many use it, given spans in code points; the words that nothing uses, if asked. */
  shade(pointSpans, idle) {
    const key = JSON.stringify([pointSpans, idle]);
    if (key === this.#shaded) return;
    this.#shaded = key;
    const found = depths(this.places.toUnits(pointSpans));
    this.free = outside(this.words.spans, found);
    this.#shade.set(found, idle ? this.free : []);
    const share = this.words.count ? 1 - this.free.length / this.words.count : 1;
    setText(this.used, `${Math.floor(100 * share)}% used`);
  }

  paint(layer, pointSpans) {
    paint.set(layer, this.node, this.places.toUnits(pointSpans));
  }

  /** The offset under a point of the screen, null beside the text. `near`: the nearest, wherever the point is. */
  offsetAt(x, y, near = false) {
    const position = document.caretPositionFromPoint
      ? document.caretPositionFromPoint(x, y)
      : fromRange(document.caretRangeFromPoint(x, y));
    if (position?.offsetNode === this.node) {
      if (near) return position.offset;
      // the caret before or after a character: the character that the point is on
      const { offset } = position;
      const found = [offset, offset - 1].find((place) => this.#covers(place, x, y)) ?? null;
      return found === null && this.#turns ? this.#wordAt(x, y) : found;
    }
    if (!near) return null;
    const { top, bottom } = this.body.getBoundingClientRect();
    return y < top ? 0 : y > bottom ? this.node.length : null;
  }

  #covers(place, x, y) {
    if (place < 0 || place >= this.node.length) return false;
    return this.boxes([place, this.words.step(place + 1, 0)]).some(
      (box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom,
    );
  }

  /** Where writing changes its direction, a caret has two places and the browser names one: look for the word itself. */
  #wordAt(x, y) {
    const inside = (box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
    return this.words.spans.find((span) => this.boxes(span).some(inside))?.[0] ?? null;
  }

  boxes([start, end]) {
    this.#measure.setStart(this.node, start);
    this.#measure.setEnd(this.node, end);
    return [...this.#measure.getClientRects()];
  }

  /** Bring a place into view, moving no more than needed. */
  reveal(span) {
    const [box] = this.boxes(span);
    const frame = this.body.closest(".a-texts");
    if (!box || !frame) return;
    const { top, bottom } = frame.getBoundingClientRect();
    const margin = 2 * box.height;
    if (box.top < top + margin) frame.scrollBy({ top: box.top - top - margin });
    else if (box.bottom > bottom - margin) frame.scrollBy({ top: box.bottom - bottom + margin });
  }
}

const fromRange = (range) => range && { offsetNode: range.startContainer, offset: range.startOffset };

/** All texts of a page, by name and in order, in their place. */
export class Texts {
  constructor(texts, role, place) {
    this.all = texts.map((text) => new Text(text, role));
    this.byName = new Map(this.all.map((text) => [text.name, text]));
    put(
      place,
      this.all.map((text) => text.pane),
    );
  }

  get = (name) => this.byName.get(name);

  of = (node) => this.all.find((text) => text.body === node || text.body.contains(node));

  next(text, by) {
    const at = this.all.indexOf(text);
    return this.all[(at + by + this.all.length) % this.all.length];
  }
}
