// Notes on what was left out and why: all of them, the first ones at once.

import { el, name, plural } from "./manager-dom.js";

const AT_ONCE = 8;

export function noteList(notes, { title = "Notes", none = "" } = {}) {
  if (!notes.length) return none ? el("p", { class: "m-help" }, none) : null;
  const items = notes.map((note) =>
    el(
      "li",
      {},
      note.where && el("span", { class: "m-note-where" }, name(note.where)),
      el("span", {}, el("bdi", {}, String(note.what ?? ""))),
      note.text && el("q", {}, note.text),
    ),
  );
  const list = (some) => el("ul", { class: "m-notes" }, some);
  const rest = items.slice(AT_ONCE);
  return el(
    "div",
    { class: "m-noteblock" },
    el("h3", {}, `${title} (${notes.length})`),
    list(items.slice(0, AT_ONCE)),
    rest.length > 0 &&
      el("details", { class: "m-fold" }, el("summary", {}, `${plural(rest.length, "more note")}`), list(rest)),
  );
}
