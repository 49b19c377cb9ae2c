// @ts-check
// One text on the page: its node, its words, where a point of the screen lies in it, and what is painted on it.

import { el, put, setText, svg } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { depths, lanes, outside, pieces, Places, Words } from "../shared/spans.js";

/** @import { NamedText } from "./commands.js" */
/** @import { Piece, Span, Used } from "../shared/spans.js" */

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

export class Text {
  #shaded = "";
  #turns;
  #shade;
  #measure = document.createRange();

  /** The words that nothing uses, in UTF-16. @type {Span[]} */
  free = [];
  /** The word at which the cursor was last. @type {number | undefined} */
  last;

  /** @param {NamedText} text @param {string} role what the text is to the annotator, e.g. "Reference" */
  constructor({ name, text }, role) {
    this.name = name;
    this.places = new Places(text);
    this.words = new Words(text);
    this.node = document.createTextNode(text);
    this.#turns = RIGHT_TO_LEFT.test(text);
    this.body = el(
      "div.text.a-text",
      {
        dir: "auto",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "text to annotate",
        "aria-label": `${role} ${name}, ${plural(this.words.count, "word")}`,
        "aria-describedby": "text-help",
      },
      this.node,
    );
    this.used = el("span.a-used");
    this.title = el("h3.a-text-title", el("bdi", name), this.used);
    this.#shade = new Shade(this);
    const sheet = el("div.a-sheet", this.#shade.node, this.body);
    this.pane = el("section.a-pane", { "aria-label": `${role} ${name}` }, this.title, sheet);
  }

  /** @param {Span} span */
  slice = ([start, end]) => this.node.data.slice(start, end);

  /** @param {Span[]} spans */
  pieces = (spans) => spans.map(this.slice);

  /** The words of spans, pieces joined: "Growers … are suing the city". @param {Span[]} spans */
  quote = (spans) => this.pieces(spans).join(" … ");

  /**
   * Shade what is used by how many use it, and underline what belongs together.
   * @param {Used[]} mentions of this text, in code points
   * @param {boolean} idle whether to point out the words that nothing uses
   * @param {Map<string, number>} hues of the units
   */
  shade(mentions, idle, hues) {
    const own = mentions.map(({ unit, spans }) => ({ unit, spans, hue: hues.get(unit ?? "") ?? 0 }));
    const key = JSON.stringify([own, idle]);
    if (key === this.#shaded) return;
    this.#shaded = key;
    const here = mentions.map((mention) => ({ ...mention, spans: this.places.toUnits(mention.spans) }));
    const used = depths(here.flatMap(({ spans }) => spans));
    this.free = outside(this.words.spans, used);
    const lines = lanes(pieces(here), LANES).map((piece) => ({ ...piece, hue: hues.get(piece.unit) ?? 0 }));
    this.#shade.set(used, idle ? this.free : [], lines);
    const share = this.words.count ? 1 - this.free.length / this.words.count : 1;
    setText(this.used, `${Math.floor(100 * share)}% used`);
  }

  /** @param {string} layer @param {Span[]} pointSpans */
  paint(layer, pointSpans) {
    paint.set(layer, this.node, this.places.toUnits(pointSpans));
  }

  /**
   * The offset under a point of the screen, null beside the text.
   * @param {number} x
   * @param {number} y
   * @param {boolean} [near] the nearest offset, wherever the point is
   */
  offsetAt(x, y, near = false) {
    const position = document.caretPositionFromPoint
      ? document.caretPositionFromPoint(x, y)
      : fromRange(document.caretRangeFromPoint(x, y));
    if (position?.offsetNode === this.node) {
      if (near) return position.offset;
      // the caret before or after a character: the character that the point is on
      const { offset } = position;
      const place = [offset, offset - 1].find((each) => this.#covers(each, x, y)) ?? null;
      return place === null && this.#turns ? this.#wordAt(x, y) : place;
    }
    if (!near) return null;
    const { top, bottom } = this.body.getBoundingClientRect();
    return y < top ? 0 : y > bottom ? this.node.length : null;
  }

  /** @param {number} place @param {number} x @param {number} y */
  #covers(place, x, y) {
    if (place < 0 || place >= this.node.length) return false;
    return this.#isOn([place, this.words.step(place + 1, 0)], x, y);
  }

  /**
   * Where writing changes its direction, a caret has two places and the browser names one: look for the word itself.
   * @param {number} x
   * @param {number} y
   */
  #wordAt = (x, y) => this.words.spans.find((span) => this.#isOn(span, x, y))?.[0] ?? null;

  /** @param {Span} span @param {number} x @param {number} y */
  #isOn = (span, x, y) =>
    this.boxes(span).some((box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom);

  /** @param {Span} span */
  boxes([start, end]) {
    this.#measure.setStart(this.node, start);
    this.#measure.setEnd(this.node, end);
    return [...this.#measure.getClientRects()];
  }

  /** Bring a place into view, moving no more than needed. @param {Span} span */
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

/** @param {Range | null} range */
const fromRange = (range) => range && { offsetNode: range.startContainer, offset: range.startOffset };

/** All texts of a page, by name and in order, in their place. */
export class Texts {
  /** @param {NamedText[]} texts @param {string} role @param {HTMLElement} place */
  constructor(texts, role, place) {
    this.all = texts.map((text) => new Text(text, role));
    this.byName = new Map(this.all.map((text) => [text.name, text]));
    put(place, ...this.all.map((text) => text.pane));
  }

  /** @param {string} name */
  get = (name) => this.byName.get(name);

  /** @param {Node | null} node */
  of = (node) => this.all.find((text) => text.body.contains(node));

  /**
   * The words of a text, given spans in code points; "" where there is no such text.
   * @param {string} name @param {Span[]} spans
   */
  quote(name, spans) {
    const text = this.byName.get(name);
    return text ? text.quote(text.places.toUnits(spans)) : "";
  }
}

// -- shading -------------------------------------------------------------------------------------------------

const DEEPEST = 4;
/** How many hues there are for units, and how many underlines fit below a line. */
export const HUES = 6;
const LANES = 2;
/** @typedef {Piece & { lane: number, hue: number }} Line the underline of a piece */
const DEPTHS = Array.from({ length: DEEPEST }, (_, i) => `used-${i + 1}`);
const KINDS = [...DEPTHS, "idle", ...Array.from({ length: HUES }, (_, i) => `hue-${i}`)];
/** @param {number} number */
const round = (number) => Math.round(number * 10) / 10;

/**
 * The shading behind a text: how many units use each stretch, and which words none uses; and a line below the words of
 * every unit, with a gap to the next. It changes rarely and has hundreds of pieces, which would make every painted range
 * slow to change; so it is drawn, one path for each depth and hue.
 */
class Shade {
  /** @type {Map<string, Span[]>} */
  #spans = new Map();
  /** @type {Line[]} */
  #lines = [];
  #paths = new Map(KINDS.map((kind) => [kind, svg("path", { class: `a-${kind}` })]));

  /** @param {Text} text whose boxes are drawn; they are drawn again when lines may break elsewhere */
  constructor(text) {
    this.text = text;
    this.node = svg("svg", { class: "a-shade", "aria-hidden": "true" }, [...this.#paths.values()]);
    new ResizeObserver(() => this.#draw()).observe(text.body);
  }

  /**
   * @param {[start: number, end: number, times: number][]} used
   * @param {Span[]} idle words to point out
   * @param {Line[]} lines
   */
  set(used, idle, lines) {
    this.#lines = lines;
    for (let depth = 1; depth <= DEEPEST; depth += 1) {
      const stretches = used.filter(([, , times]) => Math.min(times, DEEPEST) === depth);
      this.#spans.set(
        `used-${depth}`,
        stretches.map(([start, end]) => [start, end]),
      );
    }
    this.#spans.set("idle", idle);
    this.#draw();
  }

  #draw() {
    const { left, top } = this.text.body.getBoundingClientRect();
    /** @param {number} x @param {number} y @param {number} width @param {number} height */
    const shape = (x, y, width, height) =>
      `M${round(x - left)} ${round(y - top)}h${round(width)}v${round(height)}h${-round(width)}z`;
    const shapes = new Map(KINDS.map((kind) => [kind, ""]));
    /** @param {string} kind @param {string} d */
    const add = (kind, d) => shapes.set(kind, shapes.get(kind) + d);
    for (const [kind, spans] of this.#spans) {
      const boxes = spans.flatMap((span) => this.text.boxes(span)).filter((box) => box.width > 0);
      for (const box of boxes) add(kind, shape(box.left, box.top, box.width, box.height));
    }
    for (const { start, end, lane, hue } of this.#lines) {
      // not below the space at the end of a line
      const boxes = this.text.boxes([start, end]).filter((box) => box.width > 0.4 * box.height);
      for (const box of boxes) add(`hue-${hue}`, shape(box.left + 1, box.bottom + 2.5 * lane, box.width - 2, 2));
    }
    // first all that is measured, then all that is changed
    for (const [kind, d] of shapes) this.#paths.get(kind)?.setAttribute("d", d);
  }
}

// -- painting ------------------------------------------------------------------------------------------------

export const canPaint = Boolean(globalThis.Highlight && CSS.highlights);

/** Lower layers first; what each looks like is in annotation.css under ::highlight(name). */
const LAYERS = ["marked", "current", "hint", "first", "second", "both", "lit", "found", "flash", "picked", "cursor"];

/**
 * Colours on texts without touching the texts: named highlights over ranges (CSS Custom Highlight API). A text is laid
 * out once; whatever is painted on it later costs no layout. A change of one range costs the more, the more there are:
 * these are few, and what is drawn for all units is in the shading.
 */
class Paint {
  /** @type {Map<string, { highlight: Highlight, ranges: Map<Node, StaticRange[]> }>} */
  #layers = new Map();

  constructor() {
    if (!canPaint) return;
    LAYERS.forEach((name, priority) => {
      const highlight = new Highlight();
      highlight.priority = priority;
      CSS.highlights.set(name, highlight);
      this.#layers.set(name, { highlight, ranges: new Map() });
    });
  }

  /**
   * Paint these spans (UTF-16) of a text node, and no others of it, in a layer.
   * @param {string} layer
   * @param {Node} node
   * @param {Span[]} spans
   */
  set(layer, node, spans) {
    const { highlight, ranges } = this.#layer(layer);
    for (const range of ranges.get(node) ?? []) highlight.delete(range);
    ranges.delete(node);
    if (!spans.length) return;
    const made = spans.map(
      ([start, end]) =>
        new StaticRange({ startContainer: node, startOffset: start, endContainer: node, endOffset: end }),
    );
    for (const range of made) highlight.add(range);
    ranges.set(node, made);
  }

  /** @param {string} name */
  #layer(name) {
    const layer = this.#layers.get(name);
    if (!layer) throw new Error(`There is no layer “${name}” to paint on.`);
    return layer;
  }

  /** @param {string} layer */
  clear(layer) {
    const { highlight, ranges } = this.#layer(layer);
    if (!ranges.size) return;
    highlight.clear();
    ranges.clear();
  }
}

export const paint = new Paint();
