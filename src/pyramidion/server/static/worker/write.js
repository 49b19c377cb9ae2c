// @ts-check
// Write down the facts of a reference as short statements.

import { call, path } from "../shared/api.js";
import { button, el, focusOn, put, setText, uniqueId } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { announce } from "../shared/messages.js";
import { readingPanel } from "./panel.js";

/** @import { View, Work } from "./task.js" */

const MAX_STATEMENT = 500;
const MAX_PASTED = 50;
const QUIET = 500;

/** @param {Work} work @returns {View} */
export function writeView({ campaign, page, answer, changed, advised }) {
  const over = new AbortController();
  const address = path`/api/work/${campaign}/statements`;
  /** @type {ReturnType<typeof referenceText>[]} */
  const references = page.references.map(referenceText);
  /** @type {string[]} */
  const pasted = (Array.isArray(answer.pasted) ? answer.pasted : []).filter(
    (/** @type {unknown} */ text) => typeof text === "string",
  );
  const own = new Set();
  const fields = Array.from({ length: page.statements }, (_, index) => field(index, answer.statements?.[index]));
  const bits = references.map((reference) => reference.bits);
  const bar = el("div.spread-bar", { "aria-hidden": "true" }, bits);
  const spread = el("p.spread-text.small.muted");
  const copier = button("", copySelection, "primary small copier");
  copier.hidden = true;
  let current = 0;
  let selected = "";
  /** What is wrong with each statement, as far as it was checked. @type {string[][]} */
  let advice = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {number} index @param {unknown} before */
  function field(index, before) {
    const id = uniqueId("statement");
    const about = { id, rows: "2", dir: "auto", maxlength: MAX_STATEMENT };
    const input = el("textarea", { ...about, "aria-describedby": `${id}-problems` });
    input.value = typeof before === "string" ? before : "";
    const problems = el("ul.problems.small", { id: `${id}-problems` });
    const note = "This came from somewhere else, which we have noted. Please use only what the text says.";
    const foreign = el("p.problems.small", { hidden: true }, note);
    const node = el("li.field", el("label", { for: id }, `Statement ${index + 1}`), input, problems, foreign);
    input.addEventListener("focus", () => {
      current = index;
    });
    input.addEventListener("input", edited);
    // A statement is one line; Enter goes to the next one instead.
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (!event.shiftKey) (fields[index + 1]?.input ?? input).focus();
    });
    for (const type of ["copy", "cut"]) input.addEventListener(type, () => own.add(squeeze(picked(input))));
    input.addEventListener("paste", (event) => record(event.clipboardData, foreign));
    input.addEventListener("drop", (event) => record(event.dataTransfer, foreign));
    return { node, input, problems };
  }

  /** @param {HTMLTextAreaElement} input */
  const picked = (input) => input.value.slice(input.selectionStart, input.selectionEnd);

  /**
   * Text that is neither from the reference nor moved here from another of the fields.
   * @param {DataTransfer | null} data
   * @param {HTMLElement} foreign
   */
  function record(data, foreign) {
    const text = squeeze(data?.getData("text/plain") ?? "");
    if (!text || own.has(text) || references.some(({ plain }) => plain.includes(text))) return;
    if (pasted.length < MAX_PASTED) pasted.push(text.slice(0, MAX_STATEMENT));
    foreign.hidden = false;
    announce(String(foreign.textContent));
    changed();
  }

  const statements = () => fields.map(({ input }) => input.value);

  function edited() {
    paintSpread();
    changed();
    clearTimeout(timer);
    timer = setTimeout(check, QUIET);
  }

  function paintSpread() {
    const texts = statements();
    const used = references.reduce((sum, reference) => sum + reference.show(texts), 0);
    const size = references.reduce((sum, reference) => sum + reference.size, 0);
    setText(spread, `${used} of ${plural(size, "sentence")} used`);
  }

  async function check() {
    const asked = statements();
    if (!asked.some((text) => text.trim())) return show([]);
    try {
      const { problems } = await call("POST", address, { statements: asked }, { signal: over.signal });
      // An answer about texts that have changed since would be about something else.
      if (statements().every((text, index) => text === asked[index])) show(problems);
    } catch {
      // Advice can wait: it is asked for again with the next change.
    }
  }

  /** @param {string[][]} problems for each statement */
  function show(problems) {
    advice = problems;
    fields.forEach((each, index) => {
      const items = (problems[index] ?? []).map((text) => el("li", { dir: "auto" }, text));
      put(each.problems, items);
    });
    advised();
  }

  /** The empty field they are in, or the next one. */
  function target() {
    const order = [...fields.slice(current), ...fields.slice(0, current)];
    return order.find(({ input }) => !input.value.trim());
  }

  function followSelection() {
    const selection = getSelection();
    const range = selection?.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    /** @param {Range} range */
    const inside = ({ startContainer, endContainer }) =>
      references.some(({ node }) => node.contains(startContainer) && node.contains(endContainer));
    selected = range && inside(range) ? squeeze(String(selection)) : "";
    const free = target();
    copier.hidden = !selected;
    if (!selected || !range) return;
    setText(copier, free ? `Copy to statement ${fields.indexOf(free) + 1}` : "All statements are filled");
    copier.disabled = !free;
    place(range);
  }

  /** Just below the selection, within the window. The style sheet docks it on touch screens,
   * which put their own menu there. @param {Range} range */
  function place(range) {
    const rects = range.getClientRects();
    const end = rects[rects.length - 1];
    if (!end) return;
    const left = Math.min(Math.max(8, end.right - copier.offsetWidth / 2), innerWidth - copier.offsetWidth - 8);
    const below = end.bottom + 6;
    const top = below + copier.offsetHeight > innerHeight - 70 ? end.top - copier.offsetHeight - 6 : below;
    copier.style.setProperty("left", `${left}px`);
    copier.style.setProperty("top", `${Math.max(8, top)}px`);
  }

  function copySelection() {
    const free = target();
    if (!free || !selected) return;
    free.input.value = selected.slice(0, MAX_STATEMENT);
    getSelection()?.removeAllRanges();
    copier.hidden = true;
    focusOn(free.input);
    free.input.setSelectionRange(free.input.value.length, free.input.value.length);
    announce(`Copied to statement ${fields.indexOf(free) + 1}. You can change it.`);
    edited();
  }

  // A press must not take the selection away before the click arrives.
  copier.addEventListener("pointerdown", (event) => event.preventDefault());
  const { signal } = over;
  document.addEventListener("selectionchange", followSelection, { signal });
  document.addEventListener("scroll", followSelection, { signal, capture: true, passive: true });
  addEventListener("resize", followSelection, { signal });

  const title = references.length > 1 ? "Texts" : "Text";
  /** @type {[string, HTMLElement][]} */
  const texts = references.map(({ node }, index) => [`Text ${index + 1}`, node]);
  const panel = readingPanel(title, texts, { extra: el("div.spread", bar, spread) });
  panel.append(copier);
  paintSpread();
  const nodes = fields.map(({ node }) => node);

  return {
    panel,
    work: [
      el(
        "section.writing.card",
        el("h2", "Your statements"),
        el("p.muted", "One fact in each. Select words in the text to copy them here, then change what you like."),
        el("ol.fields", nodes),
      ),
    ],
    verb: "written",
    total: fields.length,
    answer: () => ({ statements: statements(), pasted: [...pasted] }),
    open: () =>
      fields.flatMap(({ input }, index) =>
        input.value.trim() ? [] : [{ label: `Statement ${index + 1}`, go: () => focusOn(input, { block: "center" }) }],
      ),
    tally: () => `All ${plural(fields.length, "statement")} written.`,
    warnings: () =>
      fields.flatMap(({ input }, index) => {
        const wrong = input.value.trim() ? (advice[index] ?? []) : [];
        const go = () => focusOn(input, { block: "center" });
        return wrong.map((text) => ({ label: `Statement ${index + 1}: ${text}`, go }));
      }),
    keys: [[["Enter"], "in a statement: on to the next"]],
    ready: check,
    leave() {
      clearTimeout(timer);
      over.abort();
    },
  };
}

// -- the text that statements are written from ---------------------------------------------------------------

/** @typedef {{ words: Set<string> }} Sentence */

const STEM = 6;

/** @param {string} text @param {"word" | "sentence"} granularity */
function segments(text, granularity) {
  if (globalThis.Intl?.Segmenter) return [...new Intl.Segmenter(undefined, { granularity }).segment(text)];
  const pattern =
    granularity === "word" ? /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+/gu : /[^.!?。！？]*[.!?。！？]*\s*/gu;
  return (text.match(pattern) ?? [])
    .filter(Boolean)
    .map((segment) => ({ segment, isWordLike: /[\p{L}\p{N}]/u.test(segment) }));
}

/** Words that carry content, roughly: long ones, numbers, and whatever is not in Latin letters. @param {string} text */
export function contentWords(text) {
  const words = segments(text, "word")
    .filter((part) => part.isWordLike)
    .map((part) => part.segment.toLowerCase());
  const telling = words.filter((word) => word.length > 3 || /[^a-z]/.test(word));
  return new Set((telling.length ? telling : words).map((word) => word.slice(0, STEM)));
}

/** @param {string} text */
const squeeze = (text) => text.replace(/\s+/g, " ").trim();

/**
 * A text as one span per sentence, character by character as it was, and a bar of its sentences.
 * @param {string} text
 */
function referenceText(text) {
  const sentences = segments(text, "sentence").map(({ segment }) => ({
    words: contentWords(segment),
    node: el("span", segment.trimEnd()),
    space: segment.slice(segment.trimEnd().length), // not marked as used
    bit: el("span.bit"),
    telling: /[\p{L}\p{N}]/u.test(segment),
    length: segment.length,
  }));
  for (const { bit, length } of sentences) bit.style.setProperty("flex-grow", String(length));
  const node = el(
    "div.text.reference",
    { dir: "auto" },
    sentences.map((sentence) => [sentence.node, sentence.space]),
  );
  const telling = sentences.filter((sentence) => sentence.telling);

  /** Mark the sentences that these statements come from; returns how many. @param {string[]} statements */
  function show(statements) {
    const used = new Set(statements.flatMap((statement) => sources(statement, telling)));
    for (const sentence of telling) {
      sentence.node.classList.toggle("used", used.has(sentence));
      sentence.bit.classList.toggle("used", used.has(sentence));
    }
    return used.size;
  }

  return { node, bits: telling.map((sentence) => sentence.bit), size: telling.length, show, plain: squeeze(text) };
}

/**
 * The sentence that has most of a statement's words, and any other that has nearly all of them.
 * @template {Sentence} Kind
 * @param {string} statement
 * @param {Kind[]} sentences
 */
export function sources(statement, sentences) {
  const words = contentWords(statement);
  if (!words.size) return [];
  const shares = sentences.map((sentence) => {
    const shared = [...words].filter((word) => sentence.words.has(word)).length;
    return shared < Math.min(2, words.size) ? 0 : shared / words.size;
  });
  const best = Math.max(...shares);
  return sentences.filter((_, index) => shares[index] >= 0.5 && (shares[index] === best || shares[index] >= 0.9));
}
