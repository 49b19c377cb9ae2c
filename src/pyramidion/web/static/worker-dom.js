// Building the page from data. Every text comes from somebody else, so it only ever becomes a text node.

/** el("button", {class: "x", onclick: f}, "text", node): null, undefined and false leave an attribute or child out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  return put(node, ...children);
}

/** Put these children, and no others, into a node. */
export function put(node, ...children) {
  const solid = (child) => child !== null && child !== undefined && child !== false;
  node.replaceChildren(...children.flat(Infinity).filter(solid));
  return node;
}

/** Change a text only if it differs, so that nothing is read out twice. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A text that somebody wrote: it keeps its own direction and line breaks. */
export const written = (text, tag = "div") => el(tag, { class: "text", dir: "auto" }, String(text ?? ""));

export const button = (label, onclick, kind = "") =>
  el("button", { type: "button", class: `button ${kind}`, onclick }, label);

export const key = (name) => el("kbd", { "aria-hidden": "true" }, name);

let serial = 0;
export const uniqueId = (prefix) => `${prefix}-${++serial}`;

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** Tell people who do not see the screen what has changed. */
export function announce(text) {
  const live = document.getElementById("live");
  // The same text twice in a row would not be read: it differs by an invisible character.
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
}

const still = matchMedia("(prefers-reduced-motion: reduce)");

export function bringIntoView(node, { smooth = false, block = "nearest" } = {}) {
  node.scrollIntoView({ block, behavior: smooth && !still.matches ? "smooth" : "instant" });
}

export function focusOn(node, options) {
  node.focus({ preventScroll: true });
  bringIntoView(node, options);
}

/** A modal dialog that closes by its buttons, Escape, or a click beside it; resolves to what was chosen. */
export function dialog(title, content, choices = [["Close", "", "primary"]]) {
  const heading = uniqueId("dialog");
  const buttons = choices.map(([label, value, kind]) => button(label, () => box.close(value), kind));
  const box = el(
    "dialog",
    { "aria-labelledby": heading },
    el("h2", { id: heading, tabindex: "-1" }, title),
    content,
    el("div", { class: "actions dialog-actions" }, buttons),
  );
  box.addEventListener("click", (event) => event.target === box && box.close(""));
  document.body.append(box);
  box.showModal();
  box.querySelector("h2").focus();
  box.scrollTop = 0;
  return new Promise((resolve) => {
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue);
    });
  });
}
