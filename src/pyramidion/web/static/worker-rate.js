// How good is a summary, on a few scales?

import { announce, el, focusOn, uniqueId, written } from "./worker-dom.js";
import { readingPanel } from "./worker-panel.js";

const NOTICE =
  "Consistency matters: scores that deviate much from other people's are looked at; particularly careful work may get a bonus.";
const MOST_BUTTONS = 12;

export function rateView({ page, answer, changed }) {
  const scales = page.aspects.map((aspect) => scale(aspect, answer.aspects?.[aspect.id], changed));
  const references = page.references.map((text, index) => [
    page.references.length > 1 ? `Reference ${index + 1}` : "Reference",
    text,
  ]);
  const title = page.references.length > 1 ? "Reference summaries" : "Reference summary";
  return {
    panel: references.length ? readingPanel(title, references, { sticky: false }) : null,
    work: [
      el("section", { class: "candidate card" }, el("h2", {}, "Summary to rate"), written(page.summary)),
      el(
        "section",
        { class: "scales card" },
        el("h2", {}, "Your rating"),
        page.notice && el("p", { class: "notice" }, NOTICE),
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
      [["1", "9", "0"], "on a scale: choose 1 to 9, or 10"],
      [["←", "→"], "on a scale: one less, one more"],
    ],
  };
}

function scale(aspect, before, changed) {
  const { low, high } = aspect;
  const few = Number.isInteger(low) && Number.isInteger(high) && high - low < MOST_BUTTONS;
  return few ? buttonScale(aspect, before, changed) : numberScale(aspect, before, changed);
}

function buttonScale({ id, title, low, high, help }, before, changed) {
  const name = uniqueId("scale");
  const ends = { [low]: "very poor", [high]: "very good" };
  const values = Array.from({ length: high - low + 1 }, (_, index) => low + index);
  const inputs = values.map((value) => {
    const input = el("input", {
      type: "radio",
      name,
      value,
      id: `${name}-${value}`,
      "aria-describedby": help ? `${name}-help` : null,
    });
    input.checked = value === before;
    return input;
  });
  const options = values.map((value, index) =>
    el(
      "label",
      { class: "point" },
      inputs[index],
      el("span", {}, String(value)),
      ends[value] && el("span", { class: "visually-hidden" }, ends[value]),
    ),
  );
  const node = el(
    "fieldset",
    { class: "scale" },
    el("legend", { dir: "auto" }, title),
    help && el("p", { class: "muted small", id: `${name}-help`, dir: "auto" }, help),
    el("div", { class: "points" }, options),
    el(
      "div",
      { class: "ends small muted", "aria-hidden": "true" },
      el("span", {}, `${low} = very poor`),
      el("span", {}, `${high} = very good`),
    ),
  );
  node.addEventListener("change", changed);
  node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^\d$/.test(event.key)) return;
    const wanted = event.key === "0" && low > 0 ? 10 : Number(event.key);
    const input = inputs[values.indexOf(wanted)];
    if (!input || input.checked) return;
    input.checked = true;
    input.focus();
    announce(`${title}: ${wanted}`);
    changed();
  });
  const chosen = () => inputs.find((input) => input.checked);
  return {
    id,
    title,
    node,
    value: () => (chosen() ? Number(chosen().value) : null),
    focus: () => focusOn(inputs[0], { block: "center" }),
  };
}

/** A study may bring scales of its own, too long for a row of buttons. */
function numberScale({ id, title, low, high, help }, before, changed) {
  const name = uniqueId("scale");
  const input = el("input", {
    type: "number",
    id: name,
    min: low,
    max: high,
    step: 1,
    inputmode: "numeric",
    "aria-describedby": `${name}-help`,
    oninput: changed,
  });
  if (Number.isFinite(before)) input.value = before;
  const node = el(
    "div",
    { class: "field scale" },
    el("label", { for: name, dir: "auto" }, title),
    el(
      "p",
      { class: "muted small", id: `${name}-help`, dir: "auto" },
      `${help ?? ""} A whole number from ${low} (very poor) to ${high} (very good).`.trim(),
    ),
    input,
  );
  const value = () => (input.value !== "" && input.validity.valid ? Number(input.value) : null);
  return { id, title, node, value, focus: () => focusOn(input, { block: "center" }) };
}
