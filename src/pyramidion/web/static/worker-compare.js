// Which of two summaries is better?

import { el, focusOn, key, uniqueId, written } from "./worker-dom.js";
import { shortcuts } from "./worker-shortcuts.js";

const CHOICES = [
  { value: "first", label: "The first is better", tally: "The first is better.", digit: "1" },
  { value: "tie", label: "No difference", tally: "No difference.", digit: "0" },
  { value: "second", label: "The second is better", tally: "The second is better.", digit: "2" },
];

export function compareView({ page, answer, changed }) {
  const name = uniqueId("winner");
  const inputs = CHOICES.map(({ value }) => {
    const input = el("input", { type: "radio", name, value });
    input.checked = answer.winner === value;
    return input;
  });
  const candidates = page.candidates.map((text, index) =>
    el("section", { class: "candidate card" }, el("h2", {}, index ? "Second summary" : "First summary"), written(text)),
  );
  const choices = el(
    "fieldset",
    { class: "winner card" },
    el("legend", { class: "visually-hidden" }, "Which summary is better?"),
    CHOICES.map(({ label, digit }, index) => el("label", { class: "choice big" }, inputs[index], label, key(digit))),
  );
  choices.addEventListener("change", () => {
    paint();
    changed();
  });

  function paint() {
    const winner = value();
    candidates.forEach((node, index) => node.classList.toggle("is-winner", winner === ["first", "second"][index]));
  }

  const value = () => inputs.find((input) => input.checked)?.value ?? null;
  paint();

  return {
    panel: null,
    work: [references(page.references), el("div", { class: "pair" }, candidates), choices],
    verb: "answered",
    total: 1,
    answer: () => (value() ? { winner: value() } : {}),
    open: () =>
      value() ? [] : [{ label: "Which summary is better?", go: () => focusOn(inputs[0], { block: "center" }) }],
    tally: () => CHOICES.find((choice) => choice.value === value()).tally,
    keys: [
      [["1"], "the first is better"],
      [["2"], "the second is better"],
      [["0"], "no difference"],
    ],
    onkey(event) {
      const input = inputs[CHOICES.findIndex(({ digit }) => digit === event.key)];
      if (!input) return false;
      input.checked = true;
      focusOn(input);
      choices.dispatchEvent(new Event("change"));
      return true;
    },
  };
}

function references(texts) {
  if (!texts?.length) return el("div", { hidden: true });
  const many = texts.length > 1;
  return el(
    "details",
    { class: "references card", open: true },
    el("summary", {}, el("h2", {}, many ? "Reference summaries" : "Reference summary")),
    el(
      "div",
      { class: "pair" },
      texts.map((text, index) => el("div", {}, many && el("h3", {}, `Reference ${index + 1}`), written(text))),
    ),
  );
}
