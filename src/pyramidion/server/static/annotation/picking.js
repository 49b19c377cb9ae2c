// @ts-check
// Picking words in texts: by mouse, by touch, and by a cursor that goes from word to word.

import { holds } from "../shared/spans.js";
import { paint } from "./text.js";

/** @import { Pick } from "./pick.js" */
/** @import { Span } from "../shared/spans.js" */
/** @import { Text, Texts } from "./text.js" */
/** @typedef {{ text: Text, word: number }} Cursor */
/**
 * @typedef {{ text: Text, anchor: number } | { text: Text, on: number, x: number, y: number }}
 *   Press a new pick, or on one
 */
/**
 * @typedef {object} Hooks
 * @property {(text: Text, place: number | null) => void} onHover
 * @property {(text: Text, place: number) => void} onCursor
 * @property {(event: PointerEvent) => void} onDrag picked words are being dragged
 * @property {(text: Text) => void} onGo the cursor goes to a text
 * @property {(text: string) => void} say for those who do not see the cursor
 */

/** @param {MouseEvent} event */
const adds = (event) => event.ctrlKey || event.metaKey || event.altKey;

export class Selecting {
  /** @type {Cursor | null} */
  #cursor = null;
  /** The word at which the piece that is growing began. @type {number | null} */
  #anchor = null;
  /** Where the cursor stays when it goes from line to line. @type {number | null} */
  #column = null;
  /** @type {Press | null} */
  #pressed = null;
  #hover = 0;

  /** @param {Texts} texts @param {Pick} pick @param {Hooks} hooks */
  constructor(texts, pick, hooks) {
    this.texts = texts;
    this.pick = pick;
    this.hooks = hooks;
    for (const text of texts.all) this.#listen(text);
    document.addEventListener("selectionchange", () => this.#touched());
  }

  get cursor() {
    return this.#cursor;
  }

  /** @param {Text} text */
  #listen(text) {
    const { body } = text;
    body.addEventListener("mousedown", (event) => event.button === 0 && event.preventDefault());
    body.addEventListener("pointerdown", (event) => this.#press(text, event));
    body.addEventListener("pointermove", (event) => this.#move(text, event));
    body.addEventListener("pointerup", (event) => this.#release(text, event));
    body.addEventListener("pointercancel", () => {
      this.#pressed = null;
    });
    body.addEventListener("pointerleave", () => this.#over(text, null));
    body.addEventListener("click", (event) => event.detail > 1 && this.#wider(text, event));
    body.addEventListener("keydown", (event) => this.#key(text, event));
    body.addEventListener("focus", () => this.#enter(text));
    body.addEventListener("blur", () => paint.clear("cursor"));
    body.addEventListener("copy", (event) => this.#copy(event));
  }

  // -- mouse ---------------------------------------------------------------------------------------------------

  /** @param {Text} text @param {PointerEvent} event */
  #press(text, event) {
    if (event.button !== 0 || event.pointerType === "touch") return;
    const place = text.offsetAt(event.clientX, event.clientY);
    text.body.focus({ preventScroll: true });
    if (place !== null && this.pick.holds(text, place) && !adds(event) && !event.shiftKey) {
      this.#pressed = { text, on: text.words.at(place), x: event.clientX, y: event.clientY };
      text.body.setPointerCapture(event.pointerId); // a quick move out of the text drags too
      return;
    }
    const near = place ?? text.offsetAt(event.clientX, event.clientY, true);
    const word = near === null ? -1 : text.words.at(near);
    if (word < 0 || (place === null && !this.#beside(text, word, event))) return void this.pick.clear();
    text.body.setPointerCapture(event.pointerId);
    if (event.shiftKey && this.#cursor?.text === text) return this.#extend(text, this.#cursor.word, word);
    const span = text.words.spans[word];
    this.#set(text, word);
    this.#anchor = word;
    if (adds(event) && this.pick.holds(text, span[0])) return this.pick.toggle(text, span);
    this.#pressed = { text, anchor: word };
    this.pick.begin(text, span, { beside: adds(event) });
  }

  /**
   * A point between words, close to one: the space before a word or the full stop after it.
   * @param {Text} text @param {number} word @param {PointerEvent} event
   */
  #beside(text, word, { clientX: x, clientY: y }) {
    const reach = 12;
    return text
      .boxes(text.words.spans[word])
      .some((box) => box.left - reach < x && x < box.right + reach && box.top <= y && y <= box.bottom);
  }

  /** @param {Text} text @param {PointerEvent} event */
  #move(text, event) {
    const pressed = this.#pressed;
    if (!pressed || !(event.buttons & 1)) return this.#over(text, event);
    if ("on" in pressed) {
      if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < 5) return;
      this.#pressed = null;
      return this.hooks.onDrag(event);
    }
    const place = text.offsetAt(event.clientX, event.clientY, true);
    if (place === null) return;
    const head = text.words.at(place);
    if (head === this.#cursor?.word) return;
    this.#set(text, head);
    this.pick.grow(text.words.between(pressed.anchor, head));
  }

  /** @param {Text} text @param {PointerEvent} event */
  #release(text, event) {
    const pressed = this.#pressed;
    this.#pressed = null;
    if (!pressed || !("on" in pressed) || event.pointerType === "touch") return;
    this.pick.clear(); // a click, not a drag: this word alone
    this.#set(text, pressed.on);
    this.#anchor = pressed.on;
    this.pick.begin(text, text.words.spans[pressed.on]);
  }

  /** A second click picks the clause, a third the sentence. @param {Text} text @param {MouseEvent} event */
  #wider(text, event) {
    const place = text.offsetAt(event.clientX, event.clientY);
    const word = place === null ? -1 : text.words.at(place);
    if (word >= 0) this.#pickAround(text, word, { whole: event.detail > 2, beside: adds(event) });
  }

  /**
   * Pick the clause around a word, or the whole sentence.
   * @param {Text} text @param {number} word @param {{ whole?: boolean, beside?: boolean }} [options]
   */
  #pickAround(text, word, { whole = false, beside = false } = {}) {
    const [first, last] = whole ? text.words.sentenceAround(word) : text.words.clause(word);
    if (!beside) this.pick.clear();
    this.#set(text, last);
    this.#anchor = first;
    this.pick.begin(text, text.words.between(first, last), { beside });
    this.hooks.say(text.slice(text.words.between(first, last)));
  }

  /**
   * Pick the next clause of which more than half is used by nothing, after what is picked or the cursor; false where no
   * text has one.
   */
  pickNextClause() {
    const from = this.#cursor ?? { text: this.texts.all[0], word: -1 };
    const here = this.texts.all.indexOf(from.text);
    for (let step = 0; step <= this.texts.all.length; step += 1) {
      const text = this.texts.all[(here + step) % this.texts.all.length];
      const free = new Set(text.free.map(([start]) => start));
      for (let word = step ? 0 : this.#after(from); word < text.words.count; word = text.words.clause(word)[1] + 1) {
        const [first, last] = text.words.clause(word);
        const unused = text.words.spans.slice(first, last + 1).filter(([start]) => free.has(start));
        if (2 * unused.length <= last + 1 - first) continue;
        this.goTo(text, text.words.spans[first][0]);
        this.#pickAround(text, first);
        text.reveal(text.words.spans[last]);
        return true;
      }
    }
    return false;
  }

  /** The word with which to look on: the cursor's own where it has not been anywhere. @param {Cursor} cursor */
  #after({ text, word }) {
    if (word < 0 || (word === 0 && this.pick.empty)) return 0;
    return text.words.clause(word)[1] + 1;
  }

  /** @param {Text} text @param {PointerEvent | null} event */
  #over(text, event) {
    cancelAnimationFrame(this.#hover);
    this.#hover = requestAnimationFrame(() =>
      this.hooks.onHover(text, event && text.offsetAt(event.clientX, event.clientY)),
    );
  }

  /** On touch screens the browser's own selection is used, with its handles; it snaps to words here. */
  #touched() {
    const selection = getSelection();
    const text = selection?.rangeCount && !selection.isCollapsed && this.texts.of(selection.anchorNode);
    if (!text || this.#pressed) return;
    const range = selection.getRangeAt(0);
    if (range.startContainer !== text.node || range.endContainer !== text.node) return;
    const span = text.words.snap(range.startOffset, range.endOffset);
    if (!span) return;
    this.#set(text, text.words.at(span[0]));
    this.pick.begin(text, span);
  }

  /** @param {ClipboardEvent} event */
  #copy(event) {
    if (this.pick.empty) return;
    event.clipboardData?.setData("text/plain", this.pick.all.map(({ text, spans }) => text.quote(spans)).join("\n"));
    event.preventDefault();
  }

  // -- keyboard ------------------------------------------------------------------------------------------------

  /** @param {Text} text */
  #enter(text) {
    if (this.#cursor?.text === text) this.#draw();
    else if (text.words.count) this.#set(text, text.last ?? 0);
  }

  /** @param {Text} text @param {KeyboardEvent} event */
  #key(text, event) {
    if (event.isComposing || !text.words.count || !this.#cursor) return;
    const { word } = this.#cursor;
    if (event.altKey && event.shiftKey && /^Arrow(Left|Right)$/.test(event.key)) this.#trim(text, word, event.key);
    else if (event.altKey || event.metaKey) return;
    else if (event.key === " " && event.shiftKey) this.#pickAround(text, word, { beside: this.pick.held });
    else if (event.key === " " && !event.ctrlKey) this.#keep(text, word);
    else if (event.key === "Escape" && !this.pick.empty) this.pick.clear();
    else if (!this.#go(text, word, event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Text} text @param {number} word @param {KeyboardEvent} event */
  #go(text, word, { key, ctrlKey, shiftKey }) {
    const forward = text.words.rtl ? "ArrowLeft" : "ArrowRight";
    const last = text.words.count - 1;
    let to = -1;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const by = key === forward ? 1 : -1;
      to = ctrlKey ? text.words.sentence(word, by) : Math.min(Math.max(word + by, 0), last);
    } else if (key === "ArrowUp" || key === "ArrowDown") to = this.#line(text, word, key === "ArrowUp" ? -1 : 1);
    else if (key === "Home") to = 0;
    else if (key === "End") to = last;
    if (to < 0) return false;
    if (!key.endsWith("Up") && !key.endsWith("Down")) this.#column = null;
    if (shiftKey) this.#extend(text, word, to);
    else {
      this.#anchor = null;
      this.#set(text, to);
    }
    text.reveal(text.words.spans[to]);
    this.hooks.say(text.slice(text.words.spans[to]));
    return true;
  }

  /**
   * The word a line further up or down, below where one was.
   * @param {Text} text @param {number} from @param {number} by
   */
  #line(text, from, by) {
    const { spans } = text.words;
    const [here] = text.boxes(spans[from]);
    this.#column ??= (here.left + here.right) / 2;
    let [best, least, line] = [from, Infinity, Number.NaN];
    for (let word = from + by; spans[word]; word += by) {
      const [box] = text.boxes(spans[word]);
      if (Math.abs(box.top - here.top) < here.height / 2) continue;
      if (Number.isNaN(line)) line = box.top;
      if (Math.abs(box.top - line) >= here.height / 2) break;
      const away = Math.max(box.left - this.#column, this.#column - box.right, 0);
      if (away < least) [best, least] = [word, away];
    }
    return best;
  }

  /** @param {Text} text @param {number} word @param {number} to */
  #extend(text, word, to) {
    const fresh = this.#anchor === null || this.pick.growing?.text !== text;
    const anchor = fresh ? word : (this.#anchor ?? word);
    const span = text.words.between(anchor, to);
    this.#anchor = anchor;
    this.#set(text, to);
    if (fresh) this.pick.begin(text, span);
    else this.pick.grow(span);
  }

  /**
   * Move the end of the growing piece by one character: for what words do not reach.
   * @param {Text} text @param {number} word @param {string} key
   */
  #trim(text, word, key) {
    const growing = this.pick.growing;
    const span = growing?.text === text ? growing.span : text.words.spans[word];
    const by = (key === "ArrowRight") === !text.words.rtl ? 1 : -1;
    const end = Math.max(text.words.step(span[1], by), text.words.step(span[0], 1));
    if (growing?.text === text) this.pick.grow([span[0], end]);
    else this.pick.begin(text, [span[0], end]);
    this.#anchor ??= word;
    this.hooks.say(text.slice([span[0], end]));
  }

  /** @param {Text} text @param {number} word */
  #keep(text, word) {
    const span = text.words.spans[word];
    if (this.pick.growing) {
      this.pick.hold();
      this.hooks.say("Kept. Pick more words.");
    } else {
      this.pick.toggle(text, span);
      this.hooks.say(`${text.slice(span)} ${holds(this.pick.spans(text), span[0]) ? "picked" : "not picked"}`);
    }
    this.#anchor = null;
  }

  // -- the cursor ----------------------------------------------------------------------------------------------

  /** @param {Text} text @param {number} word */
  #set(text, word) {
    this.#cursor = { text, word };
    text.last = word;
    this.#draw();
    this.hooks.onCursor(text, text.words.spans[word][0]);
  }

  #draw() {
    if (!this.#cursor) return;
    const { text, word } = this.#cursor;
    paint.clear("cursor");
    if (document.activeElement === text.body) paint.set("cursor", text.node, [text.words.spans[word]]);
  }

  /** Put the cursor at a place of a text and show it. @param {Text} text @param {number} place */
  goTo(text, place) {
    const word = text.words.at(place);
    if (word < 0) return;
    this.hooks.onGo(text);
    this.#anchor = null;
    this.#set(text, word);
    text.body.focus({ preventScroll: true });
    this.#draw();
    text.reveal(text.words.spans[word]);
  }
}
