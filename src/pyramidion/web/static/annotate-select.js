// Picking words in texts: by mouse, by touch, and by a cursor that goes from word to word.

import { holds } from "./annotate-spans.js";
import { paint } from "./annotate-paint.js";

const adds = (event) => event.ctrlKey || event.metaKey || event.altKey;

/**
 * hooks: onHover(text, place | null), onCursor(text, place), onDrag(event, origin): picked words are being dragged,
 * say(text): for those who do not see the cursor.
 */
export class Selecting {
  #cursor = null;
  #anchor = null;
  #column = null;
  #pressed = null;
  #hover = 0;

  constructor(texts, pick, hooks) {
    Object.assign(this, { texts, pick, hooks });
    for (const text of texts.all) this.#listen(text);
    document.addEventListener("selectionchange", () => this.#touched());
  }

  /** Where the cursor is: {text, word}, or null. */
  get cursor() {
    return this.#cursor;
  }

  #listen(text) {
    const { body } = text;
    body.addEventListener("mousedown", (event) => event.button === 0 && event.preventDefault());
    body.addEventListener("pointerdown", (event) => this.#press(text, event));
    body.addEventListener("pointermove", (event) => this.#move(text, event));
    body.addEventListener("pointerup", (event) => this.#release(text, event));
    body.addEventListener("pointercancel", () => (this.#pressed = null));
    body.addEventListener("pointerleave", () => this.#over(text, null));
    body.addEventListener("keydown", (event) => this.#key(text, event));
    body.addEventListener("focus", () => this.#enter(text));
    body.addEventListener("blur", () => paint.clear("cursor"));
    body.addEventListener("copy", (event) => this.#copy(event));
  }

  // -- mouse ---------------------------------------------------------------------------------------------------

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
    if (event.shiftKey && this.#cursor?.text === text) return this.#extend(text, word);
    const span = text.words.spans[word];
    this.#set(text, word);
    this.#anchor = word;
    if (adds(event) && this.pick.holds(text, span[0])) return this.pick.toggle(text, span);
    this.#pressed = { text, anchor: word };
    this.pick.begin(text, span, { beside: adds(event) });
  }

  /** A point between words, close to one: the space before a word or the full stop after it. */
  #beside(text, word, { clientX: x, clientY: y }) {
    const reach = 12;
    return text
      .boxes(text.words.spans[word])
      .some((box) => box.left - reach < x && x < box.right + reach && box.top <= y && y <= box.bottom);
  }

  #move(text, event) {
    if (!this.#pressed || !(event.buttons & 1)) return this.#over(text, event);
    const { on, x, y, anchor } = this.#pressed;
    if (on !== undefined) {
      if (Math.hypot(event.clientX - x, event.clientY - y) < 5) return;
      this.#pressed = null;
      return this.hooks.onDrag(event);
    }
    const place = text.offsetAt(event.clientX, event.clientY, true);
    if (place === null) return;
    const head = text.words.at(place);
    if (head === this.#cursor.word) return;
    this.#set(text, head);
    this.pick.grow(text.words.between(anchor, head));
  }

  #release(text, event) {
    const pressed = this.#pressed;
    this.#pressed = null;
    if (pressed?.on === undefined || event.pointerType === "touch") return;
    this.pick.clear(); // a click, not a drag: this word alone
    this.#set(text, pressed.on);
    this.#anchor = pressed.on;
    this.pick.begin(text, text.words.spans[pressed.on]);
  }

  #over(text, event) {
    cancelAnimationFrame(this.#hover);
    this.#hover = requestAnimationFrame(() =>
      this.hooks.onHover(text, event && text.offsetAt(event.clientX, event.clientY)),
    );
  }

  /** On touch screens the browser's own selection is used, with its handles; it snaps to words here. */
  #touched() {
    const selection = getSelection();
    const text = selection.rangeCount && !selection.isCollapsed && this.texts.of(selection.anchorNode);
    if (!text || this.#pressed) return;
    const range = selection.getRangeAt(0);
    if (range.startContainer !== text.node || range.endContainer !== text.node) return;
    const span = text.words.snap(range.startOffset, range.endOffset);
    if (!span) return;
    this.#set(text, text.words.at(span[0]));
    this.pick.begin(text, span);
  }

  #copy(event) {
    if (this.pick.empty) return;
    event.clipboardData.setData("text/plain", this.pick.all.map(({ text, spans }) => text.quote(spans)).join("\n"));
    event.preventDefault();
  }

  // -- keyboard ------------------------------------------------------------------------------------------------

  #enter(text) {
    if (this.#cursor?.text === text) this.#draw();
    else if (text.words.count) this.#set(text, text.last ?? 0);
  }

  #key(text, event) {
    if (event.isComposing || !text.words.count) return;
    if (event.altKey && event.shiftKey && /^Arrow(Left|Right)$/.test(event.key)) this.#trim(text, event.key);
    else if (event.altKey || event.metaKey) return;
    else if (event.key === " " && !event.ctrlKey) this.#keep(text);
    else if (event.key === "Escape" && !this.pick.empty) this.pick.clear();
    else if (!this.#go(text, event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #go(text, { key, ctrlKey, shiftKey }) {
    const { word } = this.#cursor;
    const forward = text.words.rtl ? "ArrowLeft" : "ArrowRight";
    const last = text.words.count - 1;
    let to = null;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const by = key === forward ? 1 : -1;
      to = ctrlKey ? text.words.sentence(word, by) : Math.min(Math.max(word + by, 0), last);
    } else if (key === "ArrowUp" || key === "ArrowDown") to = this.#line(text, key === "ArrowUp" ? -1 : 1);
    else if (key === "Home") to = 0;
    else if (key === "End") to = last;
    if (to === null) return false;
    if (!key.endsWith("Up") && !key.endsWith("Down")) this.#column = null;
    if (shiftKey) this.#extend(text, to);
    else {
      this.#anchor = null;
      this.#set(text, to);
    }
    text.reveal(text.words.spans[to]);
    this.hooks.say(text.slice(text.words.spans[to]));
    return true;
  }

  /** The word a line further up or down, below where one was. */
  #line(text, by) {
    const { spans } = text.words;
    const [here] = text.boxes(spans[this.#cursor.word]);
    this.#column ??= (here.left + here.right) / 2;
    let [best, least, line] = [this.#cursor.word, Infinity, null];
    for (let word = this.#cursor.word + by; spans[word]; word += by) {
      const [box] = text.boxes(spans[word]);
      if (Math.abs(box.top - here.top) < here.height / 2) continue;
      line ??= box.top;
      if (Math.abs(box.top - line) >= here.height / 2) break;
      const away = Math.max(box.left - this.#column, this.#column - box.right, 0);
      if (away < least) [best, least] = [word, away];
    }
    return best;
  }

  #extend(text, to) {
    const fresh = this.#anchor === null || this.pick.growing?.text !== text;
    if (fresh) this.#anchor = this.#cursor.word;
    const span = text.words.between(this.#anchor, to);
    this.#set(text, to);
    if (fresh) this.pick.begin(text, span);
    else this.pick.grow(span);
  }

  /** Move the end of the growing piece by one character: for what words do not reach. */
  #trim(text, key) {
    const growing = this.pick.growing;
    const span = growing?.text === text ? growing.span : text.words.spans[this.#cursor.word];
    const by = (key === "ArrowRight") === !text.words.rtl ? 1 : -1;
    const end = Math.max(text.words.step(span[1], by), text.words.step(span[0], 1));
    if (growing?.text === text) this.pick.grow([span[0], end]);
    else this.pick.begin(text, [span[0], end]);
    this.#anchor ??= this.#cursor.word;
    this.hooks.say(text.slice([span[0], end]));
  }

  #keep(text) {
    const span = text.words.spans[this.#cursor.word];
    if (this.pick.growing) {
      this.pick.hold();
      this.hooks.say("Kept. Pick further words.");
    } else {
      this.pick.toggle(text, span);
      this.hooks.say(`${text.slice(span)} ${holds(this.pick.spans(text), span[0]) ? "picked" : "not picked"}`);
    }
    this.#anchor = null;
  }

  // -- the cursor ----------------------------------------------------------------------------------------------

  #set(text, word) {
    this.#cursor = { text, word };
    text.last = word;
    this.#draw();
    this.hooks.onCursor(text, text.words.spans[word][0]);
  }

  #draw() {
    const { text, word } = this.#cursor;
    paint.clear("cursor");
    if (document.activeElement === text.body) paint.set("cursor", text.node, [text.words.spans[word]]);
  }

  /** Put the cursor at a place of a text and show it. */
  goTo(text, place) {
    const word = text.words.at(place);
    if (word < 0) return;
    this.#anchor = null;
    this.#set(text, word);
    text.body.focus({ preventScroll: true });
    this.#draw();
    text.reveal(text.words.spans[word]);
  }
}
