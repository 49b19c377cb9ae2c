// @ts-check
// Marking words of the summary: by dragging over them, by tapping the first and then the last, or by keys.

import { Places, union, Words } from "../shared/spans.js";
import { bringIntoView, el } from "../shared/dom.js";
import { announce } from "../shared/messages.js";

/** @import { Span } from "../shared/spans.js" */
/** @typedef {ReturnType<typeof markableText>} Markable */

/**
 * A text whose words can be marked. `marked` gets the new spans, counted as the server counts, and says whether they
 * are taken.
 * @param {string} text
 * @param {{ marked: (spans: Span[]) => boolean, leave: (on: boolean) => void }} hooks
 *   leave: the keys are done here; on: to the next statement
 */
export function markableText(text, { marked, leave }) {
  const words = new Words(text);
  const places = new Places(text);
  const nodes = words.spans.map(([start, end], at) => el("span.word", { "data-at": at }, text.slice(start, end)));
  const node = el("div.text.markable", { dir: "auto", tabindex: "0", role: "group" }, pieces());
  /** The spans that are shown, counted as the browser counts. @type {Span[]} */
  let spans = [];
  /** The first word of a pick by taps or keys. @type {number | null} */
  let first = null;
  /**
   * hit: it began on a word, so that without a move it is a tap; beside one it is nothing.
   * @type {{ from: number, to: number, hit: boolean, moved: boolean } | null}
   */
  let drag = null;
  let cursor = 0;

  /** Words and what is between them, character by character as it was. */
  function pieces() {
    /** @type {(Node | string)[]} */
    const made = [];
    let from = 0;
    words.spans.forEach(([start, end], at) => {
      made.push(text.slice(from, start), nodes[at]);
      from = end;
    });
    return [...made, text.slice(from)];
  }

  /** @param {number} at */
  const isMarked = (at) => spans.some(([start, end]) => start <= words.spans[at][0] && words.spans[at][1] <= end);

  function paint() {
    const [low, high] = drag ? [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)] : [-1, -1];
    nodes.forEach((word, at) => {
      word.classList.toggle("is-marked", isMarked(at));
      word.classList.toggle("is-picked", (low <= at && at <= high) || at === first);
      word.classList.toggle("is-cursor", at === cursor && document.activeElement === node);
    });
  }

  /** @param {Span[]} next */
  function change(next) {
    if (!marked(places.toPoints(union(next)))) return false;
    spans = union(next);
    return true;
  }

  /** @param {number} from @param {number} to */
  function mark(from, to) {
    const span = words.between(from, to);
    if (change([...spans, span])) announce(`Marked: ${text.slice(...span)}`);
    first = null;
    paint();
  }

  /** One word: the first of a pick, the last of one, or a piece that is taken away. @param {number} at */
  function tap(at) {
    if (first !== null && at !== first) return mark(first, at);
    if (first === null && isMarked(at)) {
      const place = words.spans[at][0];
      if (change(spans.filter(([start, end]) => !(start <= place && place < end)))) announce("No longer marked.");
    } else if (first === at) {
      first = null;
    } else if (change([...spans, words.spans[at]])) {
      first = at;
      announce(`From “${nodes[at].textContent}”. Now the last word.`);
    }
    paint();
  }

  /**
   * The word under a pointer, or the nearest one, if the pointer is in the text: nobody aims at the first letter.
   * @param {PointerEvent} event
   */
  function wordAt({ clientX: x, clientY: y }) {
    const under = document.elementFromPoint(x, y);
    if (!under || !node.contains(under) || !words.count) return null;
    const word = /** @type {HTMLElement | null} */ (under.closest(".word"));
    return word ? { at: Number(word.dataset.at), hit: true } : { at: nearest(x, y), hit: false };
  }

  /** Of the nearest line the nearest word. @param {number} x @param {number} y */
  function nearest(x, y) {
    const gaps = nodes.flatMap((word, at) =>
      [...word.getClientRects()].map(({ left, right, top, bottom }) => ({
        at,
        lines: Math.round(Math.max(top - y, y - bottom, 0)),
        across: Math.max(left - x, x - right, 0),
      })),
    );
    return gaps.reduce((best, gap) => ((gap.lines - best.lines || gap.across - best.across) < 0 ? gap : best)).at;
  }

  node.addEventListener("pointerdown", (event) => {
    const word = event.button === 0 ? wordAt(event) : null;
    if (!word) return;
    drag = { from: word.at, to: word.at, hit: word.hit, moved: false };
    // The browser's own selection would be painted over ours.
    if (event.pointerType === "mouse") event.preventDefault();
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    const word = drag && wordAt(event);
    if (!drag || !word) return;
    drag = { ...drag, to: word.at, moved: drag.moved || word.at !== drag.from || (word.hit && !drag.hit) };
    paint();
  });
  node.addEventListener("pointerup", () => {
    if (!drag) return;
    const { from, to, hit, moved } = drag;
    drag = null;
    if (moved || hit) cursor = to;
    if (moved) mark(from, to);
    else if (hit) tap(from);
    else paint();
  });
  node.addEventListener("pointercancel", () => {
    drag = null;
    paint();
  });

  /** @param {number} at */
  function moveTo(at) {
    cursor = Math.min(Math.max(at, 0), words.count - 1);
    bringIntoView(nodes[cursor]);
    announce(String(nodes[cursor].textContent));
    paint();
  }

  node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !words.count) return;
    const step = words.rtl ? -1 : 1;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowRight: () => moveTo(cursor + step),
      ArrowLeft: () => moveTo(cursor - step),
      ArrowDown: () => moveTo(words.sentence(cursor, 1)),
      ArrowUp: () => moveTo(words.sentence(cursor, -1)),
      Home: () => moveTo(0),
      End: () => moveTo(words.count - 1),
      " ": () => tap(cursor),
      Enter: () => leave(true),
      Escape: () => leave(false),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  node.addEventListener("focus", paint);
  node.addEventListener("blur", paint);

  return {
    node,
    /** Show the words marked for one statement, as the server counts. @param {Span[]} shown @param {string} name */
    show(shown, name) {
      spans = places.toUnits(shown);
      first = null;
      node.setAttribute("aria-label", name);
      paint();
    },
    /** @param {Span[]} shown */
    quote: (shown) => places.toUnits(shown).map(([start, end]) => `“${text.slice(start, end)}”`),
    focus() {
      node.focus({ preventScroll: true });
      const place = spans[0]?.[0];
      if (words.count) moveTo(place === undefined ? cursor : words.at(place));
    },
  };
}
