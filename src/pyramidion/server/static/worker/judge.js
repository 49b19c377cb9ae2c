// @ts-check
// Is each statement in the summary?

import { bringIntoView, el, focusOn, uniqueId } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { announce } from "../shared/messages.js";
import { shortcuts } from "../shared/shortcuts.js";
import { readingPanel } from "./panel.js";

/** @import { View, Work } from "./task.js" */

const CHOICES = [
  { value: 1, label: "Present", mark: "✓", letter: "P", name: "present" },
  { value: 0, label: "Not present", mark: "✕", letter: "N", name: "absent" },
];

/** @param {Work} work @returns {View} */
export function judgeView({ page, answer, changed }) {
  /** @type {Map<string, number>} */
  const given = new Map();
  for (const { id } of page.units) {
    const value = answer.units?.[id];
    if (value === 0 || value === 1) given.set(id, value);
  }
  /** @type {ReturnType<typeof statement>[]} */
  const statements = page.units.map((unit, index) => statement(unit, index));
  let current = 0;

  /** @param {{ id: string, label: string }} unit @param {number} index */
  function statement({ id, label }, index) {
    const name = uniqueId("statement");
    const buttons = CHOICES.map((choice) => choiceButton(choice, index));
    const node = el(
      "div.statement.card",
      { role: "group", tabindex: "-1", "aria-labelledby": `${name}-number ${name}` },
      el(
        "div.statement-text",
        el("span.number", { id: `${name}-number` }, el("span.visually-hidden", "Statement "), String(index + 1)),
        el("span.text", { dir: "auto", id: name }, label),
      ),
      el("div.answers", buttons),
    );
    node.addEventListener("focusin", () => mark(index));
    return { id, label, node, buttons };
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
      // A tap brings the next one into view but keeps the focus; keys on the button stay where they are.
      if (event.detail > 0 && !before && index + 1 < statements.length) {
        mark(index + 1);
        bringIntoView(statements[index + 1].node, { smooth: true });
      }
    });
    return node;
  }

  /** @param {{ id: string, node: HTMLElement, buttons: HTMLElement[] }} statement */
  function paint({ id, node, buttons }) {
    CHOICES.forEach(({ value }, at) => {
      buttons[at].setAttribute("aria-pressed", String(given.get(id) === value));
    });
    node.classList.toggle("is-answered", given.has(id));
  }

  /** @param {number} index @param {number} value */
  function set(index, value) {
    given.set(page.units[index].id, value);
    paint(statements[index]);
    const label = CHOICES.find((choice) => choice.value === value)?.label;
    announce(`${label}. ${given.size} of ${page.units.length} answered.`);
    changed();
  }

  /** @param {number} index */
  function mark(index) {
    statements[current].node.classList.remove("is-current");
    statements[current].node.removeAttribute("aria-current");
    current = index;
    statements[current].node.classList.add("is-current");
    statements[current].node.setAttribute("aria-current", "true");
  }

  /** @param {number} index */
  function moveTo(index) {
    mark(Math.min(Math.max(index, 0), statements.length - 1));
    focusOn(statements[current].node);
  }

  /** @param {number} value */
  function answerByKey(value) {
    const last = current === statements.length - 1;
    set(current, value);
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
  const firstOpen = page.units.findIndex(({ id }) => !given.has(id));
  mark(firstOpen === -1 ? 0 : firstOpen);

  return {
    panel: readingPanel("Summary", [["Summary", page.summary]]),
    work: [
      el("h2.visually-hidden", "Statements"),
      el(
        "ol.statements",
        statements.map(({ node }) => el("li", node)),
      ),
    ],
    verb: "answered",
    total: page.units.length,
    answer: () => ({ units: Object.fromEntries(given) }),
    open: () =>
      statements.flatMap(({ id, label }, index) =>
        given.has(id) ? [] : [{ label: `${index + 1}. ${label}`, go: () => moveTo(index) }],
      ),
    tally() {
      const present = [...given.values()].filter((value) => value === 1).length;
      return `All ${plural(given.size, "statement")} answered: ${present} present, ${given.size - present} not present.`;
    },
    keys: [
      [["P"], "present, and on to the next"],
      [["N"], "not present, and on to the next"],
      [["↓", "J"], "next statement"],
      [["↑", "K"], "previous statement"],
      [["Enter"], "on the last statement: go to the review"],
    ],
    onkey,
    // After a reload, go on where they were.
    ready: () => firstOpen > 0 && bringIntoView(statements[firstOpen].node, { block: "center" }),
  };
}
