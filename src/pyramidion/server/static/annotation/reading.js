// @ts-check
// Getting around in the texts: a button for each of them, and finding words in all.

import { byId, el, put, setText } from "../shared/dom.js";
import { paint } from "./text.js";

/** @import { Span } from "../shared/spans.js" */
/** @import { Text, Texts } from "./text.js" */

/**
 * One button per text: it brings the text into view, or shows it alone where texts are read one at a time. Tab gets to
 * one of them, the arrow keys to the others.
 */
export class Tabs {
  #alone = false;

  /** @param {Texts} texts @param {string} role */
  constructor(texts, role) {
    this.texts = texts;
    this.buttons = texts.all.map((text, i) => {
      const key = i < 10 ? ` (${(i + 1) % 10})` : "";
      const about = { type: "button", title: `${role} ${text.name}${key}`, onclick: () => this.go(i) };
      return el("button.a-tab", { ...about, "aria-label": `Go to ${text.name}` }, el("bdi", text.name));
    });
    for (const [i, text] of texts.all.entries()) text.body.addEventListener("focus", () => this.#current(i));
    const place = byId("tabs");
    place.hidden = texts.all.length < 2;
    put(place, this.buttons);
    place.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const at = this.buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
      if (!by || at < 0) return;
      event.preventDefault();
      this.buttons[(at + by + this.buttons.length) % this.buttons.length].focus();
    });
    this.#current(0);
  }

  /** @param {string} layout */
  set layout(layout) {
    this.#alone = layout === "one";
    const at = this.buttons.findIndex((button) => button.hasAttribute("aria-current"));
    this.texts.all.forEach((text, i) => {
      text.pane.hidden = this.#alone && i !== at;
    });
  }

  /** @param {number} at */
  #current(at) {
    for (const [i, button] of this.buttons.entries()) {
      if (i === at) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      button.tabIndex = i === at ? 0 : -1;
      if (this.#alone) this.texts.all[i].pane.hidden = i !== at;
    }
    this.buttons[at]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Make sure that a text is on the page. @param {Text} text */
  show(text) {
    if (text.pane.hidden) this.#current(this.texts.all.indexOf(text));
  }

  /** Go to a text, by its place. @param {number} at */
  go(at) {
    const text = this.texts.all[at];
    if (!text) return false;
    this.#current(at);
    text.body.focus({ preventScroll: true });
    text.pane.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** Mark the texts that have words of the current unit. @param {Set<string>} names */
  mark(names) {
    this.texts.all.forEach((text, i) => {
      this.buttons[i].classList.toggle("a-has", names.has(text.name));
    });
  }
}

// -- finding words -------------------------------------------------------------------------------------------

/** A text without accents and capitals, and where each of its characters comes from. @param {string} text */
export function folded(text) {
  /** @type {Span[]} */
  const places = [];
  let plain = "";
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    for (const part of character.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()) {
      plain += part;
      for (let i = 0; i < part.length; i += 1) places.push([at, end]);
    }
    at = end;
  }
  return { plain, places };
}

/** Where some words are in a text, in UTF-16, whatever their accents and capitals. @param {string} text @param {string} words */
export function findWords(text, words) {
  const { plain, places } = folded(text);
  const wanted = folded(words.trim()).plain;
  /** @type {Span[]} */
  const hits = [];
  for (let at = wanted ? plain.indexOf(wanted) : -1; at >= 0; at = plain.indexOf(wanted, at + wanted.length)) {
    hits.push([places[at][0], places[at + wanted.length - 1][1]]);
  }
  return hits;
}

/** The field that finds words in all texts: Enter goes on, Shift Enter back, Escape to the words found. */
export class Find {
  /** @type {{ text: Text, span: Span }[]} */
  #hits = [];
  #at = -1;

  /** @param {Texts} texts @param {{ show: (text: Text) => void, leave: (text?: Text, place?: number) => void }} hooks */
  constructor(texts, { show, leave }) {
    this.texts = texts;
    this.show = show;
    this.input = /** @type {HTMLInputElement} */ (byId("find"));
    this.input.addEventListener("input", () => this.#look());
    this.input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter") this.#step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") {
        const hit = this.#hits[this.#at];
        this.input.value = "";
        this.#look();
        leave(hit?.text, hit?.span[0]);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  #look() {
    const words = this.input.value;
    const found = this.texts.all.map((text) => ({ text, spans: findWords(text.node.data, words) }));
    for (const { text, spans } of found) paint.set("found", text.node, spans);
    this.#hits = found.flatMap(({ text, spans }) => spans.map((span) => ({ text, span })));
    this.#at = -1;
    this.#tell();
    if (this.#hits.length) this.#step(1);
    else paint.clear("flash");
  }

  /** @param {1 | -1} by */
  #step(by) {
    const { length } = this.#hits;
    if (!length) return;
    this.#at = (this.#at + by + length) % length;
    const { text, span } = this.#hits[this.#at];
    this.show(text);
    paint.clear("flash");
    paint.set("flash", text.node, [span]);
    text.reveal(span);
    this.#tell();
  }

  #tell() {
    const { length } = this.#hits;
    const empty = !this.input.value.trim();
    setText(byId("find-count"), empty ? "" : length ? `${this.#at + 1} of ${length}` : "none");
  }
}
