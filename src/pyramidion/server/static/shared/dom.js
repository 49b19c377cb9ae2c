// @ts-check
// Building pages from data. Every text comes from somebody else, so it only ever becomes a text node.

/** @typedef {Node | string | number | boolean | null | undefined | Child[]} Child */
/** @typedef {Record<string, any>} Attributes */
/**
 * The element that a selector such as "button.small" makes.
 * @template {string} Selector
 * @typedef {Selector extends `${infer Tag}.${string}` ? Made<Tag>
 *   : Selector extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Selector] : HTMLElement} Made
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * el("a.link", { href: "/x", onclick: f }, "text", node), the attributes optional: null and false leave an attribute or
 * child out.
 * @template {string} Selector
 * @param {Selector} selector
 * @param {...(Attributes | Child)} content
 * @returns {Made<Selector>}
 */
export function el(selector, ...content) {
  const [tag, ...classes] = selector.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  return /** @type {any} */ (fill(node, content));
}

/** @param {string} tag @param {...(Attributes | Child)} content @returns {SVGElement} */
export const svg = (tag, ...content) => fill(/** @type {SVGElement} */ (document.createElementNS(SVG, tag)), content);

/** @template {Element} Kind @param {Kind} node @param {(Attributes | Child)[]} content */
function fill(node, [first, ...rest]) {
  const given = typeof first === "object" && first !== null && Object.getPrototypeOf(first) === Object.prototype;
  for (const [name, value] of given ? Object.entries(first) : []) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...solid(/** @type {Child[]} */ (given ? rest : [first, ...rest])));
  return node;
}

/** @param {Child[]} children */
function solid(children) {
  const flat = /** @type {(Node | string)[]} */ (/** @type {any[]} */ (children).flat(Infinity));
  return flat.filter((child) => child !== null && child !== undefined && typeof child !== "boolean");
}

/**
 * Put these children, and no others, into a node.
 * @template {Element} Kind
 * @param {Kind} node
 * @param {...Child} children
 */
export function put(node, ...children) {
  node.replaceChildren(...solid(children));
  return node;
}

/**
 * Change a text only if it differs: nothing moves, nothing is read out twice.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** An element that the template has. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`The page has no element with the id “${id}”.`);
  return node;
}

/** Characters that turn the letters around them: two different names could look the same. */
const OVERRIDES = /[\u202d\u202e]/g;

/** A name from the data: its own direction, breakable anywhere, never longer than a few lines. @param {unknown} text */
export function name(text) {
  const seen = String(text).replace(OVERRIDES, "\ufffd");
  return el("bdi.m-name", { title: seen.length > 40 ? seen : null }, seen);
}

/** A text that somebody wrote: it keeps its own direction and line breaks. @param {unknown} text */
export const written = (text) => el("div.text", { dir: "auto" }, String(text ?? ""));

/**
 * @param {Child} label
 * @param {((event: MouseEvent) => unknown) | null} [onclick]
 * @param {string} [kind] further classes: "small", "primary", "quiet", "danger"
 */
export const button = (label, onclick = null, kind = "") =>
  el("button", { type: "button", class: kind ? `button ${kind}` : "button", onclick }, label);

/** @param {string} label @param {string} [kind] */
export const submitButton = (label, kind = "primary") =>
  el("button", { type: "submit", class: `button ${kind}` }, label);

let serial = 0;
/** @param {string} prefix */
export const uniqueId = (prefix) => `${prefix}-${++serial}`;

/**
 * Do something slow once, however often its button is pressed. The button is not disabled, which would lose the focus.
 * @param {HTMLElement} button
 * @param {() => unknown} work
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

/**
 * What happens when a form is sent: once, and never by loading another page.
 * @param {HTMLFormElement} form
 * @param {HTMLElement} button
 * @param {() => unknown} work
 */
export function onSubmit(form, button, work) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(button, work);
  });
}

/** Whether this person has asked for less motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @param {Element} node @param {{ smooth?: boolean, block?: ScrollLogicalPosition }} [options] */
export function bringIntoView(node, { smooth = false, block = "nearest" } = {}) {
  node.scrollIntoView({ block, behavior: smooth && !calm() ? "smooth" : "instant" });
}

/** @param {HTMLElement} node @param {{ smooth?: boolean, block?: ScrollLogicalPosition }} [options] */
export function focusOn(node, options) {
  node.focus({ preventScroll: true });
  bringIntoView(node, options);
}
