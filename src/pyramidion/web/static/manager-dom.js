// Building the page from data. Every text comes from somebody else, so it only ever becomes a text node.

const SVG = "http://www.w3.org/2000/svg";

/** el("a", {href: "/x", class: "link", onclick: f}, "text", node): null and false leave an attribute or child out. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      if (value) node.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  node.append(...solid(children));
  return node;
}

function solid(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Put these children, and no others, into a node. */
export function put(node, ...children) {
  node.replaceChildren(...solid(children));
  return node;
}

/** Change a text only if it differs: nothing moves, nothing is read out twice. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const byId = (id) => document.getElementById(id);

/** A name from the data: its own direction, breakable anywhere, never longer than a few lines. */
export function name(text) {
  const seen = String(text).replace(OVERRIDES, "\ufffd");
  return el("bdi", { class: "m-name", title: seen.length > 40 ? seen : null }, seen);
}

/** Characters that turn the letters around them: two different names could look the same. */
const OVERRIDES = /[\u202d\u202e]/g;

/**
 * Do something slow once, however often its button is pressed. The button is not disabled, which would lose the focus.
 */
export async function busy(button, work) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  button.classList.add("m-busy");
  try {
    await work();
  } finally {
    button.removeAttribute("aria-disabled");
    button.classList.remove("m-busy");
  }
}

let serial = 0;
export const uniqueId = (prefix) => `${prefix}-${++serial}`;

// -- numbers, times ------------------------------------------------------------------------------------------

const whole = new Intl.NumberFormat("en");
const stamp = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const NONE = "–";
export const count = (number) => (isNumber(number) ? whole.format(number) : NONE);
export const fixed = (number, digits = 2) => (isNumber(number) ? number.toFixed(digits).replace("-", "−") : NONE);
export const share = (part, total) => (total > 0 ? Math.min(part / total, 1) : 0);
export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** Whole percents that say 100 only when all is done, and 0 only when nothing is. */
export function percent(part, total) {
  const value = 100 * share(part, total);
  if (value > 0 && value < 1) return "<1%";
  return `${value < 100 ? Math.min(Math.round(value), 99) : 100}%`;
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function duration(seconds) {
  if (!isNumber(seconds)) return NONE;
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  const rounded = Math.round(seconds);
  if (rounded < 120) return `${rounded} s`;
  const hours = Math.floor(rounded / 3600);
  const minutes = Math.floor((rounded % 3600) / 60);
  const parts = hours
    ? [
        [hours, "h"],
        [minutes, "min"],
      ]
    : [
        [minutes, "min"],
        [rounded % 60, "s"],
      ];
  return parts
    .filter(([size]) => size)
    .map((part) => part.join(" "))
    .join(" ");
}

export function when(unix) {
  if (!isNumber(unix)) return NONE;
  const date = new Date(unix * 1000);
  return Number.isNaN(date.getTime()) ? NONE : el("time", { datetime: date.toISOString() }, stamp.format(date));
}

export const clock = (date) => clockTime.format(date);

/** "$2.16 for 4 assignments (...)" as the amount and the rest. */
export function splitCost(cost) {
  const found = /^(.*?) (for .*)$/s.exec(cost ?? "");
  return found ? found.slice(1) : [cost ?? NONE, ""];
}

export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
