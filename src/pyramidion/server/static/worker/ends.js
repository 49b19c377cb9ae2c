// @ts-check
// Pages without a task: between two of them, when none is left, and when somebody stops.

import { call, path, sleep } from "../shared/api.js";
import { button, el } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { announce } from "../shared/messages.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { Shell, ShowOptions } from "./main.js" */
/**
 * @typedef {{ completion_url?: string, code?: string }} WayOut
 * @typedef {WayOut & { state: string, done?: number, seconds?: number, contact?: string, needed?: number | null,
 *   more?: boolean, detail?: string, finished?: boolean }} End what is said about work that is over, for now or for good
 */

const NEXT_AFTER = 4000;
const EXPLAINED_AFTER = 12_000;
/** Seconds between looks for a task that may come, at first and in the end. */
const [AGAIN_AFTER, AGAIN_AT_LEAST] = [10, 120];

/** @type {Record<string, [title: string, text: string, again?: boolean]>} */
const MESSAGES = {
  paused: [
    "A short break",
    "This campaign is paused at the moment, so no tasks are given out. None of your work is lost. Please come back later through the same link.",
    true,
  ],
  closed: [
    "This campaign is finished",
    "Enough answers have come in, so no more tasks are given out. Thank you for your interest.",
  ],
  "failed-check": [
    "Thank you for trying",
    "Some answers to the questions about the instructions were wrong twice, so we cannot offer you tasks in this campaign. This says nothing about you: the task is an unusual one. If you came from a platform, please return your place there. Thank you for your time.",
  ],
  blocked: [
    "No tasks for you here",
    "You no longer get tasks in this study. If you think that this is a mistake, please write to the person who invited you.",
  ],
  invited: [
    "Please open your invitation link",
    "This page works with a personal invitation only, and yours is unknown here or has expired. Open the link that was sent to you once more, in this browser, or the study on the platform that you came from. What you have already written on this device is still here and will appear again.",
  ],
  refused: [
    "This did not work",
    "The server did not accept the request. Reloading the page usually helps; your answers are kept on this device.",
    true,
  ],
  unknown: ["Nothing to do at the moment", "There is no task for you right now. Please come back later.", true],
};

/** @param {Shell} shell @param {End} state */
export function showEnd(shell, state) {
  if (state.state === "done") return state.more ? showMore(shell, state) : showDone(shell, state);
  if (state.state === "too-few-answers") return showTooFew(shell, state);
  return showMessage(shell, state);
}

/** @param {Shell} shell @param {string} title @param {string} text @param {Child} more @param {ShowOptions} [options] */
function showText(shell, title, text, more, options) {
  const heading = el("h1", { tabindex: "-1" }, title);
  shell.show(title, [heading, el("p.lead", text), more], { page: "message", ...options });
}

/** @param {Shell} shell @param {End} state */
export function showMessage(shell, state) {
  const [title, text, again] = MESSAGES[state.state] ?? MESSAGES.unknown;
  const reload = button("Try again", () => location.reload());
  const detail = state.detail && el("p.muted", { dir: "auto" }, state.detail);
  showText(shell, title, text, [detail, workDone(state), again && el("div.actions", reload), whomToAsk(state)]);
}

// -- what was done, whom to ask, and the way out -------------------------------------------------------------

/** @param {number} seconds */
export function aboutMinutes(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return "less than a minute";
  return minutes < 120 ? `about ${plural(minutes, "minute")}` : `about ${plural(Math.round(minutes / 60), "hour")}`;
}

/** @param {End} state */
const workDone = ({ done = 0, seconds = 0 }) =>
  done > 0 && el("p", `You have sent ${plural(done, "answer")}, in ${aboutMinutes(seconds)}.`);

/** @param {End} state */
const whomToAsk = ({ contact }) => contact && el("p.muted", "Questions? Ask ", el("bdi", contact), ".");

/** Only a web address is ever linked: the text comes from a form. @param {string} text */
function webAddress(text) {
  try {
    const url = new URL(text);
    return ["https:", "http:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const FINISHED = "One last step: confirm on the platform you came from that you have finished.";
const EARLY = "Please tell the platform you came from that you stop here; your place is then free for somebody else.";

/**
 * Back to where somebody came from, with the code they need there.
 * @param {WayOut} state
 * @param {string} explanation
 */
function wayOut({ completion_url: link, code }, explanation) {
  const url = link ? webAddress(link) : null;
  return [
    code && [el("p", "Your completion code:"), codeBox(code)],
    url && [
      el("p", explanation),
      el("div.actions", el("a.button.primary", { href: url, rel: "noreferrer" }, "Confirm and finish")),
    ],
    !url && !code && el("p.muted", "You can close this page."),
  ];
}

/** @param {string} code */
function codeBox(code) {
  const box = el("code.code-box", code);
  const copy = button("Copy", copyCode, "small");
  async function copyCode() {
    try {
      await navigator.clipboard.writeText(code);
      copy.textContent = "Copied";
      announce("Copied.");
    } catch {
      getSelection()?.selectAllChildren(box);
    }
  }
  return el("p.actions", box, copy);
}

// -- nothing is left -----------------------------------------------------------------------------------------

/** @param {Shell} shell @param {End} state */
function showDone(shell, state) {
  const [title, text] = state.done
    ? ["All done. Thank you!", "There is nothing left for you to do here. All your answers have arrived safely."]
    : ["No tasks left", "There is no task for you here: others have taken them all. Thank you for your interest."];
  showText(shell, title, text, [workDone(state), wayOut(state, FINISHED), whomToAsk(state)]);
}

const MORE = "New tasks may come when the answers of others are in.";

/**
 * Nothing at the moment, but more may come. Whoever has a way out has earned it and need not wait; a page without one
 * looks again by itself.
 * @param {Shell} shell
 * @param {End} state
 */
function showMore(shell, state) {
  const leaves = Boolean(state.completion_url || state.code);
  const again = button(leaves ? "Look for another task" : "Look again", () => shell.next());
  const arrived = state.done ? "All your answers have arrived safely. " : "";
  const hint = leaves
    ? `${MORE} You can look for another task, or finish now.`
    : `${MORE} This page looks again by itself; you can also close it and come back later through the same link.`;
  const way = leaves && wayOut(state, FINISHED);
  const waiting = new AbortController();
  const options = leaves ? {} : { leave: () => waiting.abort() };
  const said = [workDone(state), el("p", hint), el("div.actions", again), way, whomToAsk(state)];
  const title = "No task right now. Thank you!";
  showText(shell, title, `${arrived}There is no task for you at the moment.`, said, options);
  if (!leaves) lookAgain(shell, waiting.signal);
}

/**
 * Ask now and then, while somebody looks, until there is something else to show.
 * @param {Shell} shell
 * @param {AbortSignal} signal
 */
async function lookAgain(shell, signal) {
  for (let pause = AGAIN_AFTER; ; pause = Math.min(2 * pause, AGAIN_AT_LEAST)) {
    await sleep(pause, { signal });
    if (document.hidden)
      await new Promise((seen) => document.addEventListener("visibilitychange", seen, { once: true }));
    if (signal.aborted) return;
    /** @type {any} */
    const state = await call("GET", path`/api/work/${shell.campaign}`).catch(() => null);
    if (signal.aborted) return;
    if (state && !(state.state === "done" && state.more)) return shell.route(state);
  }
}

/** @param {Shell} shell @param {End} state */
function showTooFew(shell, state) {
  const sent = state.done ? `You have sent ${plural(state.done, "answer")}. ` : "You have not sent an answer yet. ";
  const needed = `The completion code is for people who have sent at least ${state.needed}.`;
  const text = "There is no other task for you here at the moment. Thank you for your interest.";
  const reload = button("Look for a task again", () => location.reload());
  const title = state.more ? "No task for you right now" : "No more tasks for you";
  const said = [el("p", sent, needed), state.more && el("p", MORE), el("div.actions", reload)];
  showText(shell, title, text, [...said, wayOut(state, EARLY), whomToAsk(state)]);
}

// -- between two tasks ---------------------------------------------------------------------------------------

/**
 * Goes on by itself, at once on Enter, and not at all for those who want to stop.
 * @param {Shell} shell
 * @param {string} title
 * @param {string} text
 * @param {{ explained?: boolean }} [options] explained: the text takes longer to read
 */
export function showBetween(shell, title, text, { explained = false } = {}) {
  const go = button("Next task", onwards, "primary");
  const stop = button("Stop for now", () => shell.stop(), "quiet");
  const timer = setTimeout(onwards, explained ? EXPLAINED_AFTER : NEXT_AFTER);
  const hint = el("p.muted.small", "The next task opens by itself in a moment, or when you press Enter.");
  const options = { focus: go, leave: () => clearTimeout(timer) };
  showText(shell, title, text, [el("div.actions", go, stop), hint], options);
  announce(`${title}. ${text}`);

  function onwards() {
    clearTimeout(timer);
    if (!go.isConnected) return;
    // Nobody is looking: a task would be held for them in vain.
    if (document.hidden) document.addEventListener("visibilitychange", onwards, { once: true });
    else shell.next();
  }
}

/** Somebody stops while tasks may be left: what they have done, and the code where they have one. @param {Shell} shell */
export async function showStop(shell) {
  /** @type {End} */
  const state = await call("GET", path`/api/work/${shell.campaign}/way-out`).catch(() => ({ state: "offline" }));
  const saved = "Everything is saved, and you can close this page. Come back through the same link when you like.";
  const missing = (state.needed ?? 0) - (state.done ?? 0);
  const earned = `You get the completion code after ${plural(missing, "more answer")}.`;
  const given = Boolean(state.code || state.completion_url);
  const go = el(
    "div.actions",
    button("Continue with the next task", () => shell.next()),
  );
  showText(shell, "See you later", saved, [
    workDone(state),
    !state.finished && missing > 0 && el("p", earned),
    go,
    given && [el("p", "Or finish here for good:"), wayOut(state, state.finished ? FINISHED : EARLY)],
    whomToAsk(state),
  ]);
}
