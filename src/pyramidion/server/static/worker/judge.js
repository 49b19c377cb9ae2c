// @ts-check
// Is each statement in the summary? And, where the campaign asks, which of its words say so?

import { bringIntoView, button, el, focusOn, put, setText, uniqueId } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { announce } from "../shared/messages.js";
import { shortcuts } from "../shared/shortcuts.js";
import { markableText } from "./evidence.js";
import { readingPanel } from "./panel.js";

/** @import { Span } from "../shared/spans.js" */
/** @import { View, Work } from "./task.js" */
/** @typedef {{ id: string, label: string, node: HTMLElement, buttons: HTMLElement[], words: HTMLElement }} Statement */

const CHOICES = [
  { value: 1, label: "Present", mark: "✓", letter: "P", name: "present" },
  { value: 0, label: "Not present", mark: "✕", letter: "N", name: "absent" },
];

/** @param {Work} work @returns {View} */
export function judgeView({ page, answer, changed }) {
  const [given, evidence] = restored(page, answer);
  const text = page.evidence ? markableText(page.summary, { marked: markWords, leave: leaveText }) : null;
  const marking = el("p.marking.small.muted");
  const statements = page.units.map(statement);
  let current = 0;

  /** @param {{ id: string, label: string }} unit @param {number} index @returns {Statement} */
  function statement({ id, label }, index) {
    const name = uniqueId("statement");
    const buttons = CHOICES.map((choice) => choiceButton(choice, index));
    const words = el("p.words.small", { hidden: true });
    const node = el(
      "div.statement.card",
      { role: "group", tabindex: "-1", "aria-labelledby": `${name}-number ${name}` },
      el("span.number", { id: `${name}-number` }, el("span.visually-hidden", "Statement "), String(index + 1)),
      el("div.statement-text", el("span.text", { dir: "auto", id: name }, label), words),
      el("div.answers", buttons),
    );
    node.addEventListener("focusin", () => mark(index));
    return { id, label, node, buttons, words };
  }

  /** @param {typeof CHOICES[number]} choice @param {number} index */
  function choiceButton({ value, label, mark: sign, letter, name }, index) {
    const node = el(
      "button",
      { type: "button", class: `button answer ${name}`, "aria-pressed": "false" },
      el("span.sign", { "aria-hidden": "true" }, sign),
      label,
      el("kbd", { "aria-hidden": "true" }, letter),
    );
    node.addEventListener("click", (event) => {
      const before = given.has(page.units[index].id);
      set(index, value);
      // A tap goes on, and the focus with it: wherever it comes back to, from a dialog or another window, is the
      // statement that the next key answers. Keys on the button stay where they are.
      if (event.detail > 0 && !before && !wantsWords(index)) moveTo(index + 1, { smooth: true });
    });
    return node;
  }

  /** Whether a statement was found and its words are still to be marked. @param {number} index */
  const wantsWords = (index) => {
    const { id } = page.units[index];
    return Boolean(text) && given.get(id) === 1 && !evidence.get(id)?.length;
  };

  /** @param {Statement} statement @param {number} index */
  function paint({ id, node, buttons, words }, index) {
    CHOICES.forEach(({ value }, at) => {
      buttons[at].setAttribute("aria-pressed", String(given.get(id) === value));
    });
    node.classList.toggle("is-answered", given.has(id) && !wantsWords(index));
    words.hidden = !text || given.get(id) !== 1;
    if (!text || words.hidden) return;
    const quotes = text.quote(evidence.get(id) ?? []);
    words.classList.toggle("is-missing", !quotes.length);
    const clear = button("Clear", () => clearWords(index), "small quiet");
    put(
      words,
      quotes.length ? [el("span", { dir: "auto" }, quotes.join(" … ")), clear] : "Mark the words that say it.",
    );
  }

  /** @param {number} index @param {number} value */
  function set(index, value) {
    const { id } = page.units[index];
    given.set(id, value);
    if (value !== 1) evidence.delete(id);
    repaint(index);
    const label = CHOICES.find((choice) => choice.value === value)?.label;
    const then = wantsWords(index) ? " Now mark the words that say it: M." : "";
    announce(`${label}. ${given.size} of ${page.units.length} answered.${then}`);
    changed();
  }

  /** @param {number} index */
  function repaint(index) {
    paint(statements[index], index);
    if (index === current) showWords();
  }

  // -- words that say it ---------------------------------------------------------------------------------------

  /** What was marked belongs to the current statement, which is found by that. @param {Span[]} spans */
  function markWords(spans) {
    const { id } = page.units[current];
    if (given.get(id) === 0) {
      announce(`You have said that statement ${current + 1} is not present. Change that first.`);
      return false;
    }
    evidence.set(id, spans);
    if (!given.has(id)) given.set(id, 1);
    paint(statements[current], current);
    changed();
    return true;
  }

  /** @param {number} index */
  function clearWords(index) {
    evidence.delete(page.units[index].id);
    moveTo(index);
    repaint(index);
    changed();
  }

  /** @param {boolean} on */
  function leaveText(on) {
    moveTo(on ? current + 1 : current);
  }

  function showWords() {
    const { id } = page.units[current];
    const name = `Summary. Words for statement ${current + 1}: arrow keys go from word to word, space takes the first and the last.`;
    text?.show(evidence.get(id) ?? [], name);
    const refused = given.get(id) === 0 ? ", which you said is not present" : "";
    setText(marking, text ? `Words that you mark are for statement ${current + 1}${refused}.` : "");
  }

  // -- moving about --------------------------------------------------------------------------------------------

  /** @param {number} index */
  function mark(index) {
    statements[current].node.classList.remove("is-current");
    statements[current].node.removeAttribute("aria-current");
    current = index;
    statements[current].node.classList.add("is-current");
    statements[current].node.setAttribute("aria-current", "true");
    showWords();
  }

  /** @param {number} index @param {{ smooth?: boolean }} [options] */
  function moveTo(index, options) {
    mark(Math.min(Math.max(index, 0), statements.length - 1));
    focusOn(statements[current].node, options);
  }

  /** @param {number} value */
  function answerByKey(value) {
    const last = current === statements.length - 1;
    set(current, value);
    if (wantsWords(current)) return;
    moveTo(current + 1);
    if (last) announce(`${CHOICES[value ? 0 : 1].label}. That was the last one. Press Enter to review your answers.`);
  }

  /** @param {KeyboardEvent} event @param {() => void} review */
  function onkey(event, review) {
    const reading = /** @type {Element} */ (event.target).closest(".panel-body");
    const choice = CHOICES.find(({ letter }) => letter.toLowerCase() === shortcuts.letter(event));
    if (choice) {
      // A key held down must not answer everything.
      if (!event.repeat) answerByKey(choice.value);
    } else if (text && shortcuts.letter(event) === "m") {
      text.focus();
    } else if (shortcuts.letter(event) === "j" || (event.key === "ArrowDown" && !reading)) {
      // The first press goes to where they are, not past it.
      moveTo(statements[current].node.contains(document.activeElement) ? current + 1 : current);
    } else if (shortcuts.letter(event) === "k" || (event.key === "ArrowUp" && !reading)) {
      moveTo(statements[current].node.contains(document.activeElement) ? current - 1 : current);
    } else if (event.key === "Enter" && event.target === statements[current].node) {
      if (current === statements.length - 1) review();
      else moveTo(current + 1);
    } else {
      return false;
    }
    return true;
  }

  statements.forEach(paint);
  const firstOpen = page.units.findIndex(({ id }, index) => !given.has(id) || wantsWords(index));
  mark(firstOpen === -1 ? 0 : firstOpen);

  /** @type {[string[], string][]} */
  const keys = [
    [["P"], "present, and on to the next"],
    [["N"], "not present, and on to the next"],
    [["↓", "J"], "next statement"],
    [["↑", "K"], "previous statement"],
    [["Enter"], "on the last statement: go to the review"],
  ];
  return {
    panel: readingPanel("Summary", [["Summary", text?.node ?? page.summary]], { extra: text && marking }),
    work: [
      el("h2.visually-hidden", "Statements"),
      el(
        "ol.statements",
        statements.map(({ node }) => el("li", node)),
      ),
    ],
    verb: "answered",
    total: page.units.length,
    answer: () => ({
      units: Object.fromEntries(given),
      ...(text && { evidence: Object.fromEntries([...evidence].filter(([, spans]) => spans.length)) }),
    }),
    open: () =>
      statements.flatMap(({ id, label }, index) => {
        const go = () => moveTo(index);
        if (!given.has(id)) return [{ label: `${index + 1}. ${label}`, go }];
        return wantsWords(index) ? [{ label: `${index + 1}. Mark the words: ${label}`, go }] : [];
      }),
    tally() {
      const present = [...given.values()].filter((value) => value === 1).length;
      return `All ${plural(given.size, "statement")} answered: ${present} present, ${given.size - present} not present.`;
    },
    keys: text ? [...keys, [["M"], "mark words: arrows, space for the first and the last, Enter to go on"]] : keys,
    onkey,
    // After a reload, go on where they were.
    ready: () => firstOpen > 0 && bringIntoView(statements[firstOpen].node, { block: "center" }),
  };
}

/**
 * The answers and the marked words that a draft holds, as far as they are sound.
 * @param {Work["page"]} page @param {any} answer
 * @returns {[Map<string, number>, Map<string, Span[]>]}
 */
function restored(page, answer) {
  const given = new Map();
  const evidence = new Map();
  const length = [...page.summary].length;
  /** @param {unknown} span */
  const sound = (span) =>
    Array.isArray(span) && span.every(Number.isInteger) && 0 <= span[0] && span[0] < span[1] && span[1] <= length;
  for (const { id } of page.units) {
    const value = answer.units?.[id];
    const spans = answer.evidence?.[id];
    if (value === 0 || value === 1) given.set(id, value);
    if (page.evidence && value === 1 && Array.isArray(spans)) evidence.set(id, spans.filter(sound));
  }
  return [given, evidence];
}
