// @ts-check
// What a page tells: to screen readers, for a moment at the bottom, and beside the work until it is read.

import { button, byId, el, name, put } from "./dom.js";
import { plural } from "./format.js";

/** @import { Problem } from "./api.js" */
/** @import { Child } from "./dom.js" */

const NOTES_AT_ONCE = 8;
const TOAST_TIME = 7000;

/** Say something to those who do not see the page change. @param {string} text */
export function announce(text) {
  const place = byId("announcements");
  // The same text twice in a row would not be read: it differs by an invisible character.
  place.textContent = place.textContent === text ? `${text}\u00a0` : text;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let hideToast;

/** Say what an action did: read out, and shown at the bottom of the page for a while. @param {Child} text */
export function say(text) {
  const toast = byId("toast");
  clearTimeout(hideToast);
  put(toast, el("p", text));
  hideToast = setTimeout(() => put(toast), TOAST_TIME);
}

/** Take back what was said: it no longer holds. */
export function hush() {
  clearTimeout(hideToast);
  put(byId("toast"));
}

/** @param {Problem | string} problem */
export const sentence = (problem) => {
  if (problem === null || typeof problem !== "object") return String(problem);
  return problem.where ? `${problem.where}: ${problem.what}` : String(problem.what ?? "");
};

/** @param {unknown[]} texts */
export const itemList = (texts, tag = "ul") =>
  el(
    tag,
    texts.map((text) => el("li", el("bdi", String(text)))),
  );

/**
 * An error as something to show: the message, and every problem that it names.
 * @param {any} error
 * @param {string} [title]
 */
export function errorBox(error, title = "This did not work") {
  const problems = (error.problems ?? [])
    .map(sentence)
    .filter((/** @type {string} */ text) => text && text !== error.message);
  const login = `/login?next=${encodeURIComponent(location.pathname)}`;
  return el(
    "div.notice.bad",
    { role: "alert" },
    el("p", el("strong", `${title}. `), error.message),
    problems.length > 0 && itemList(problems),
    error.status === 401 && el("p", el("a", { href: login }, "Log in")),
  );
}

/**
 * A message that stays beside the work until it is read: what went wrong, what can be done.
 * @param {"warn" | "bad"} tone
 * @param {Child[]} lines
 * @param {{ title: string, run?: () => unknown }[]} choices
 */
export function notice(tone, lines, choices) {
  const box = el("div", { class: `notice ${tone} a-notice`, role: "alert" });
  /** @param {(() => unknown) | undefined} run */
  const choose = (run) => () => {
    box.remove();
    run?.();
  };
  const buttons = choices.map(({ title, run }) => button(title, choose(run), "small"));
  put(
    box,
    lines.map((line) => el("p", line)),
    el("div.actions", buttons),
  );
  byId("notices").append(box);
}

/**
 * Notes on what was left out and why: all of them, the first ones at once.
 * @param {(Problem & { text?: string })[]} notes
 * @param {{ title?: string, none?: string }} [words]
 */
export function noteList(notes, { title = "Notes", none = "" } = {}) {
  if (!notes.length) return none ? el("p.m-help", none) : null;
  const items = notes.map((note) =>
    el(
      "li",
      note.where && el("span.m-note-where", name(note.where)),
      el("span", el("bdi", String(note.what ?? ""))),
      note.text && el("q", note.text),
    ),
  );
  const rest = items.slice(NOTES_AT_ONCE);
  return el(
    "div.m-noteblock",
    el("h3", `${title} (${notes.length})`),
    el("ul.m-notes", items.slice(0, NOTES_AT_ONCE)),
    rest.length > 0 && el("details.m-fold", el("summary", plural(rest.length, "more note")), el("ul.m-notes", rest)),
  );
}
