// @ts-check
// What workers read before they start, as a manager may rewrite it: every part with the usual one beside it.

import { button, el, put, setText, uniqueId } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { itemList } from "../shared/messages.js";

/**
 * @typedef {{ text: string, answer: string, why: string }} Item
 * @typedef {{ id: string, text: string, right: string, wrong: string[] }} Question
 * @typedef {{ title: string, intro: string[], steps: string[], example: { summary?: string, reference?: string,
 *   items: Item[] }, questions: Question[] }} Content
 * @typedef {{ node: HTMLElement, read: () => any }} Part
 */

const QUESTIONS = "questions";

export class InstructionsEditor {
  #kind = "";
  /** @type {Map<string, Content>} what was typed, for each kind */
  #kept = new Map();
  /** @type {Record<string, Part>} */
  #parts = {};

  /** @param {Record<string, Content>} usual by kind @param {{ kind: string, content: Content, open: boolean } | null} held */
  constructor(usual, held = null) {
    this.usual = usual;
    this.locked = held !== null && !held.open;
    if (held) this.#kept.set(held.kind, held.content);
    this.state = el("span");
    this.place = el("div.m-instructions");
    this.node = el("details.m-fold", el("summary", this.state), this.place);
    this.node.addEventListener("input", () => this.#showState());
  }

  /** @param {string} kind */
  adapt(kind) {
    if (this.#kind && this.#kind !== kind) this.#kept.set(this.#kind, this.#read());
    this.#kind = kind;
    this.#draw(this.#kept.get(kind) ?? this.usual[kind]);
  }

  /** What was written, or null for the usual instructions. */
  value() {
    const content = this.#read();
    return same(content, this.usual[this.#kind]) ? null : content;
  }

  /** @param {Content} content */
  #draw(content) {
    const usual = this.usual[this.#kind];
    const about = "reference" in usual.example ? "reference" : "summary";
    const parts = {
      title: text("Title", content.title, usual.title, { lines: 1 }),
      intro: lines("Introduction", content.intro, usual.intro, "One paragraph per line."),
      steps: lines("How to do it", content.steps, usual.steps, "One step per line."),
      about: text("Text of the example", content.example[about] ?? "", usual.example[about] ?? "", { lines: 3 }),
      items: list("Examples", content.example.items, usual.example.items, itemFields, itemText),
      questions: list(
        "Questions of the comprehension check",
        content.questions,
        usual.questions,
        questionFields,
        questionText,
      ),
    };
    this.#parts = parts;
    const reset = button("Use the usual instructions", () => {
      this.#draw(usual);
      this.node.querySelector("summary")?.focus();
    });
    const why = "People have read these instructions. Answers given before and after a change could not be compared.";
    put(
      this.place,
      el("p.m-help", this.locked ? why : "On the left what workers will read, on the right the usual text."),
      Object.values(parts).map(({ node }) => node),
      !this.locked && el("div.actions", reset),
    );
    if (this.locked) {
      for (const each of this.place.querySelectorAll("input, textarea, button")) each.setAttribute("disabled", "");
    }
    this.#showState();
  }

  /** @returns {Content} */
  #read() {
    const usual = this.usual[this.#kind];
    const about = "reference" in usual.example ? "reference" : "summary";
    const { title, intro, steps, items, questions } = this.#parts;
    return {
      title: title.read(),
      intro: intro.read(),
      steps: steps.read(),
      example: { [about]: this.#parts.about.read(), items: items.read() },
      questions: questions.read(),
    };
  }

  #showState() {
    setText(this.state, `Instructions and questions: ${this.value() ? "your own" : "the usual ones"}`);
  }
}

/** @param {unknown} a @param {unknown} b */
const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

/** @param {any} value @returns {any} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** @param {string} value */
const cut = (value) =>
  value
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** @param {string} label @param {HTMLElement} input @param {HTMLElement | string} usual @param {string} [help] */
function beside(label, input, usual, help = "") {
  const about = `${input.id}-usual`;
  input.setAttribute("aria-describedby", about);
  return el(
    "div.m-beside",
    el("div.field", el("label", { for: input.id }, label), help && el("p.m-help", help), input),
    el("div.m-usual", { id: about }, el("p.label.muted", "Usual"), usual),
  );
}

/** @param {string} label @param {string} value @param {string} usual @param {{ lines: number }} size @returns {Part} */
function text(label, value, usual, { lines: rows }) {
  const about = { id: uniqueId("instruction"), dir: "auto", maxlength: "2000" };
  const input = rows > 1 ? el("textarea", { ...about, rows: String(rows) }) : el("input", { ...about, type: "text" });
  input.value = value;
  return { node: beside(label, input, el("p", { dir: "auto" }, usual)), read: () => input.value.trim() };
}

/** @param {string} label @param {string[]} value @param {string[]} usual @param {string} help @returns {Part} */
function lines(label, value, usual, help) {
  const rows = String(Math.max(4, value.length + 3));
  const input = el("textarea", { id: uniqueId("instruction"), dir: "auto", rows });
  input.value = value.join("\n");
  return { node: beside(label, input, itemList(usual), help), read: () => cut(input.value) };
}

/**
 * Things of which there may be more or fewer, each with fields of its own.
 * @template Thing
 * @param {string} label
 * @param {Thing[]} value
 * @param {Thing[]} usual
 * @param {(thing: Thing | null) => Part} fields
 * @param {(thing: Thing) => string} inWords
 * @returns {Part}
 */
function list(label, value, usual, fields, inWords) {
  /** @type {Part[]} */
  let parts = [];
  const place = el("div.m-things");
  const count = el("span");
  const refresh = () => {
    setText(count, `${label} (${parts.length})`);
    place.dispatchEvent(new Event("input", { bubbles: true }));
  };
  /** @param {Thing | null} thing */
  const make = (thing) => {
    const part = fields(thing);
    const legend = el("legend", `${label.split(" ")[0].replace(/s$/, "")} ${parts.length + 1}`);
    const remove = button("Remove", () => drop(), "small quiet");
    const node = el("fieldset.m-thing", legend, part.node, remove);
    const one = { node, read: part.read };
    const drop = () => {
      parts = parts.filter((other) => other !== one);
      node.remove();
      add.focus();
      refresh();
    };
    parts.push(one);
    place.append(node);
    return node;
  };
  const add = button(`Add one`, () => {
    make(null).querySelector("input, textarea")?.dispatchEvent(new Event("focus"));
    /** @type {HTMLElement | null} */ (place.lastElementChild?.querySelector("input, textarea"))?.focus();
    refresh();
  });
  for (const thing of value) make(thing);
  refresh();
  const open = value.length <= 3;
  const node = el(
    "details.m-fold.m-inner",
    { open },
    el("summary", count),
    el(
      "div.m-beside",
      el("div", place, el("div.actions", add)),
      el(
        "div.m-usual",
        el("p.label.muted", `Usual (${plural(usual.length, "entry", "entries")})`),
        itemList(usual.map(inWords)),
      ),
    ),
  );
  return { node, read: () => parts.map((part) => part.read()) };
}

/** @param {string} label @param {string} value @param {number} [rows] */
function field(label, value, rows = 1) {
  const id = uniqueId("instruction");
  const about = { id, dir: "auto", maxlength: rows > 1 ? null : "2000" };
  const input = rows > 1 ? el("textarea", { ...about, rows: String(rows) }) : el("input", { ...about, type: "text" });
  input.value = value;
  return { node: el("div.field", el("label", { for: id }, label), input), input };
}

/** @param {Item | null} item @returns {Part} */
function itemFields(item) {
  const [what, answer, why] = [
    field("Example", item?.text ?? "", 2),
    field("Answer", item?.answer ?? ""),
    field("Why", item?.why ?? ""),
  ];
  const node = el("div", what.node, el("div.m-pair", answer.node, why.node));
  const read = () => ({
    text: what.input.value.trim(),
    answer: answer.input.value.trim(),
    why: why.input.value.trim(),
  });
  return { node, read };
}

/** @param {Item} item */
const itemText = ({ text: what, answer, why }) => `${what} – ${answer}. ${why}`;

/** @param {Question | null} question @returns {Part} */
function questionFields(question) {
  const own = question?.id ?? `own-${Math.random().toString(36).slice(2, 10)}`;
  const [what, right, wrong] = [
    field("Question", question?.text ?? "", 2),
    field("Right answer", question?.right ?? ""),
    field("Three wrong answers, one per line", (question?.wrong ?? []).join("\n"), 3),
  ];
  const read = () => ({
    id: own,
    text: what.input.value.trim(),
    right: right.input.value.trim(),
    wrong: cut(wrong.input.value),
  });
  return { node: el("div", what.node, right.node, wrong.node), read };
}

/** @param {Question} question */
const questionText = ({ text: what, right, wrong }) => `${what} Right: ${right} Wrong: ${wrong.join(" / ")}`;

/** Whether a problem is about the instructions. @param {{ where?: string }} problem */
export const isAboutInstructions = ({ where = "" }) =>
  /^(title|intro|steps|example|question|instructions)\b/.test(where) || where === QUESTIONS;
