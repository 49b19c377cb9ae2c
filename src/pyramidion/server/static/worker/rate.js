// @ts-check
// How good is a summary: on a few scales, or compared with another one?

import { bringIntoView, el, focusOn, uniqueId, written } from "../shared/dom.js";
import { announce } from "../shared/messages.js";
import { readingPanel } from "./panel.js";

/** @import { View, Work } from "./task.js" */
/** @typedef {{ id: string, title: string, low: number, high: number, help?: string }} Aspect */
/**
 * @typedef {{ id: string, title: string, node: HTMLElement, value: () => number | null, focus: () => void,
 *   press?: (digit: string) => boolean }} Scale press: take a digit, if it is on the scale
 */

const NOTICE = "Your ratings are compared with other people's, and those that are far from them are reviewed.";
const MOST_BUTTONS = 12;

/** @param {Work} work @returns {View} */
export function rateView({ page, answer, changed }) {
  /** @type {Scale[]} */
  const scales = page.aspects.map((aspect) => scale(aspect, answer.aspects?.[aspect.id], changed));
  const many = page.references.length > 1;
  /** @type {[string, string][]} */
  const references = page.references.map((text, index) => [many ? `Reference ${index + 1}` : "Reference", text]);
  const title = many ? "Reference summaries" : "Reference summary";

  /** A digit is for the scale that has the focus, or else for the first open one; then the next open one is at hand. */
  function onkey(/** @type {KeyboardEvent} */ event) {
    if (!/^\d$/.test(event.key) || event.repeat) return false;
    const open = scales.filter((each) => each.value() === null);
    const chosen = scales.find(({ node }) => node.contains(document.activeElement)) ?? open[0];
    if (!chosen?.press?.(event.key)) return false;
    const next = scales.slice(scales.indexOf(chosen) + 1).find((each) => each.value() === null);
    if (open.includes(chosen) && next) next.focus();
    else chosen.focus();
    return true;
  }

  return {
    panel: el(
      "div.reading",
      readingPanel("Candidate summary", [["Candidate summary", page.summary]]),
      references.length > 0 && readingPanel(title, references, { sticky: false }),
    ),
    work: [
      el(
        "section.scales.card",
        el("h2", "Your rating of the candidate"),
        page.notice && el("p.notice.small", NOTICE),
        scales.map(({ node }) => node),
      ),
    ],
    verb: "rated",
    total: scales.length,
    answer: () => ({
      aspects: Object.fromEntries(scales.filter((s) => s.value() !== null).map((s) => [s.id, s.value()])),
    }),
    open: () => scales.filter((s) => s.value() === null).map(({ title: label, focus }) => ({ label, go: focus })),
    tally: () => scales.map((s) => `${s.title}: ${s.value()}`).join(", "),
    keys: [
      [["1", "9", "0"], "choose 1 to 9, or 10, on the scale you are at, and on to the next"],
      [["←", "→"], "on a scale: one less, one more"],
    ],
    onkey,
  };
}

/** @param {Aspect} aspect @param {number | undefined} before @param {() => void} changed @returns {Scale} */
function scale(aspect, before, changed) {
  const { low, high } = aspect;
  const few = Number.isInteger(low) && Number.isInteger(high) && high - low < MOST_BUTTONS;
  return few ? buttonScale(aspect, before, changed) : numberScale(aspect, before, changed);
}

/** @param {Aspect} aspect @param {number | undefined} before @param {() => void} changed @returns {Scale} */
function buttonScale({ id, title, low, high, help }, before, changed) {
  const name = uniqueId("scale");
  /** @type {Record<number, string>} */
  const ends = { [low]: "very poor", [high]: "very good" };
  const values = Array.from({ length: high - low + 1 }, (_, index) => low + index);
  const described = help ? `${name}-help` : null;
  const inputs = values.map((value) => {
    const about = { id: `${name}-${value}`, checked: value === before, "aria-describedby": described };
    return el("input", { type: "radio", name, value, ...about });
  });
  const options = values.map((value, index) =>
    el("label.point", inputs[index], el("span", String(value)), ends[value] && el("span.visually-hidden", ends[value])),
  );
  const points = el("div.points", options);
  points.style.setProperty("--points", String(values.length));
  const node = el(
    "fieldset.scale",
    el("legend", { dir: "auto" }, title),
    help && el("p.muted.small", { id: `${name}-help`, dir: "auto" }, help),
    points,
    el("div.ends.small.muted", { "aria-hidden": "true" }, el("span", "very poor"), el("span", "very good")),
  );
  node.addEventListener("change", changed);
  const chosen = () => inputs.find((input) => input.checked);
  return {
    id,
    title,
    node,
    value: () => {
      const input = chosen();
      return input ? Number(input.value) : null;
    },
    focus() {
      focusOn(chosen() ?? inputs[0]);
      bringIntoView(node);
    },
    press(digit) {
      const wanted = digit === "0" && low > 0 ? 10 : Number(digit);
      const input = inputs[values.indexOf(wanted)];
      if (!input) return false;
      input.checked = true;
      announce(`${title}: ${wanted}`);
      changed();
      return true;
    },
  };
}

/**
 * A study may bring scales of its own, too long for a row of buttons.
 * @param {Aspect} aspect
 * @param {number | undefined} before
 * @param {() => void} changed
 * @returns {Scale}
 */
function numberScale({ id, title, low, high, help }, before, changed) {
  const name = uniqueId("scale");
  const limits = { type: "number", min: low, max: high, step: 1, inputmode: "numeric" };
  const input = el("input", { id: name, ...limits, "aria-describedby": `${name}-help`, oninput: changed });
  if (Number.isFinite(before)) input.value = String(before);
  const node = el(
    "div.field.scale",
    el("label", { for: name, dir: "auto" }, title),
    el(
      "p.muted.small",
      { id: `${name}-help`, dir: "auto" },
      `${help ?? ""} A whole number from ${low} (very poor) to ${high} (very good).`.trim(),
    ),
    input,
  );
  const value = () => (input.value !== "" && input.validity.valid ? Number(input.value) : null);
  return { id, title, node, value, focus: () => focusOn(input, { block: "center" }) };
}

// -- which of two summaries is better? -----------------------------------------------------------------------

const CHOICES = [
  { value: "first", label: "The first is better", short: "First", digit: "1" },
  { value: "tie", label: "No difference", short: "Neither", digit: "0" },
  { value: "second", label: "The second is better", short: "Second", digit: "2" },
];

/** @param {Work} work @returns {View} */
export function compareView({ page, answer, changed }) {
  const name = uniqueId("winner");
  const inputs = CHOICES.map(({ value }) =>
    el("input", { type: "radio", name, value, checked: answer.winner === value }),
  );
  /** @type {HTMLElement[]} */
  const candidates = page.candidates.map((text, index) =>
    el("section.candidate.card", el("h2", index ? "Second candidate" : "First candidate"), written(text)),
  );
  const choices = el(
    "fieldset.winner",
    el("legend", "Which is better?"),
    el(
      "div.winner-choices",
      CHOICES.map(({ label, short, digit }, index) =>
        el(
          "label.choice.big",
          inputs[index],
          el("span.long", label),
          el("span.short", { "aria-hidden": "true" }, short),
          el("kbd", { "aria-hidden": "true" }, digit),
        ),
      ),
    ),
  );
  choices.addEventListener("change", () => {
    paint();
    changed();
  });

  function paint() {
    const winner = value();
    candidates.forEach((node, index) => {
      node.classList.toggle("is-winner", winner === ["first", "second"][index]);
    });
  }

  const value = () => inputs.find((input) => input.checked)?.value ?? null;
  // Always in view, at the bottom.
  const focus = () => (inputs.find((input) => input.checked) ?? inputs[0]).focus({ preventScroll: true });
  paint();

  return {
    panel: null,
    work: [el("div.pair", candidates), references(page.references)],
    direct: choices,
    verb: "answered",
    total: 1,
    answer: () => (value() ? { winner: value() } : {}),
    open: () => (value() ? [] : [{ label: "Which is better?", go: focus }]),
    tally: () => `${CHOICES.find((choice) => choice.value === value())?.label}.`,
    keys: [...CHOICES.map(shown), [["Enter"], "submit the answer, and on to the next task"]],
    onkey(event, submit) {
      const input = inputs[CHOICES.findIndex(({ digit }) => digit === event.key)];
      if (input) {
        input.checked = true;
        focus();
        choices.dispatchEvent(new Event("change"));
      } else if (event.key === "Enter" && value() && !(/** @type {Element} */ (event.target).closest(PRESSED))) {
        submit();
      } else return false;
      return true;
    },
  };
}

const PRESSED = "button, a, summary";

/** @param {typeof CHOICES[number]} choice @returns {[string[], string]} */
const shown = ({ digit, label }) => [[digit], label.toLowerCase()];

/** @param {string[] | undefined} texts */
function references(texts) {
  if (!texts?.length) return el("div", { hidden: true });
  const many = texts.length > 1;
  const each = texts.map((text, index) => el("div", many && el("h3", `Reference ${index + 1}`), written(text)));
  return el(
    "details.references.card",
    { open: true },
    el("summary", el("h2", many ? "Reference summaries" : "Reference summary")),
    el("div.pair", each),
  );
}
