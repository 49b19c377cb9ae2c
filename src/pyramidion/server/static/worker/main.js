// @ts-check
// The shell: asks the server what this person should see now, and shows it.

import { ApiError, call, path, sleep, untilAnswered } from "../shared/api.js";
import { button, byId, el, put, setText } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { announce } from "../shared/messages.js";
import { sendUnconfirmed, tidy } from "./drafts.js";
import { showInstructions } from "./instructions.js";
import { showTask, waitingFor } from "./task.js";

/** @import { Child } from "../shared/dom.js" */
/** @typedef {{ page?: string, focus?: HTMLElement | null, leave?: (() => void) | null }} ShowOptions */
/** @typedef {typeof shell} Shell */

const app = byId("app");
const SLOW = 0.3;
const NEXT_AFTER = 4000;
const EXPLAINED_AFTER = 12_000;
/** Seconds between looks for a task that may come, at first and in the end. */
const [AGAIN_AFTER, AGAIN_AT_LEAST] = [10, 120];

const shell = {
  campaign: String(app.dataset.campaign),
  /** @type {(() => void) | null} */
  leave: null,

  /** @param {string} text */
  title(text) {
    document.title = `${text} - pyramidion`;
  },

  /**
   * Replace the page. `leave` is called once, when the next page comes.
   * @param {string} title
   * @param {Child} children
   * @param {ShowOptions} [options]
   */
  show(title, children, { page = "", focus = null, leave = null } = {}) {
    shell.leave?.();
    shell.leave = leave;
    shell.title(title);
    put(app, el("div", { class: `page ${page}` }, children));
    scrollTo(0, 0);
    (focus ?? app.querySelector("h1"))?.focus({ preventScroll: true });
  },

  async next() {
    const arrived = new AbortController();
    sleep(SLOW, { signal: arrived.signal }).then(() => arrived.signal.aborted || showLoading());
    try {
      const [sent, state] = await untilAnswered(
        async () => [await sendUnconfirmed(shell.campaign), await call("GET", path`/api/work/${shell.campaign}`)],
        { onwait: (_, error) => showLoading(`${waitingFor(error)}. Trying again ...`) },
      );
      arrived.abort();
      route(state);
      if (sent) announce("The answers of your last task have been sent.");
    } catch (error) {
      arrived.abort();
      shell.fail(error);
    }
  },

  /**
   * Ask again until there is an answer, saying so on the button that asked.
   * @template Answer
   * @param {() => Promise<Answer>} action
   * @param {HTMLElement} button
   */
  patiently(action, button) {
    /** @param {number} _ @param {ApiError} error */
    const onwait = (_, error) => {
      setText(button, `${waitingFor(error)} - trying again ...`);
      announce(`${waitingFor(error)}. Trying again.`);
    };
    return untilAnswered(action, { onwait });
  },

  between: showBetween,

  /** @param {unknown} error */
  fail(error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) showMessage("invited");
    else showMessage("refused", error.message);
  },
};

function showLoading(text = "Loading ...") {
  const shown = app.querySelector(".loading");
  if (shown) setText(shown, text);
  else shell.show("Loading", el("p.loading", text), { page: "message" });
  if (text !== "Loading ...") announce(text);
}

/** @param {any} state */
function route(state) {
  switch (state.state) {
    case "instructions-and-check":
      return showInstructions(shell, state);
    case "task":
      return showTask(shell, state);
    case "done":
      return showDone(state);
    case "too-few-answers":
      return showTooFew(state);
    default:
      return showMessage(state.state);
  }
}

// -- pages that only say something ---------------------------------------------------------------------------

/** @type {Record<string, [title: string, text: string, again?: boolean]>} */
const MESSAGES = {
  paused: [
    "A short break",
    "This campaign is paused at the moment. None of your work is lost. Please come back later through the same link.",
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
    "This page works with a personal invitation only. Open the link that was sent to you, in this browser. What you have already written on this device is still here and will appear again.",
  ],
  refused: [
    "This did not work",
    "The server did not accept the request. Reloading the page usually helps; your answers are kept on this device.",
    true,
  ],
  unknown: ["Nothing to do at the moment", "There is no task for you right now. Please come back later.", true],
};

/** @param {string} title @param {string} text @param {Child} more @param {ShowOptions} [options] */
function showText(title, text, more, options) {
  const heading = el("h1", { tabindex: "-1" }, title);
  shell.show(title, [heading, el("p.lead", text), more], { page: "message", ...options });
}

/** @param {string} name @param {string} [detail] */
function showMessage(name, detail) {
  const [title, text, again] = MESSAGES[name] ?? MESSAGES.unknown;
  const reload = button("Try again", () => location.reload());
  showText(title, text, [detail && el("p.muted", { dir: "auto" }, detail), again && el("div.actions", reload)]);
}

/** Only a web address is ever linked: the text comes from a form. @param {string} text */
function webAddress(text) {
  try {
    const url = new URL(text);
    return ["https:", "http:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** @typedef {{ completion_url?: string, code?: string }} WayOut */

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

/** @param {WayOut & { more?: boolean }} state */
function showDone(state) {
  if (state.more) return showMore(state);
  const text = "There is nothing left for you to do here. All your answers have arrived safely.";
  showText("All done. Thank you!", text, wayOut(state, FINISHED));
}

const MORE = "New tasks may come when the answers of others are in.";

/**
 * Nothing at the moment, but more may come. Whoever has a way out has earned it and need not wait; a page without one
 * looks again by itself.
 * @param {WayOut} state
 */
function showMore(state) {
  const leaves = Boolean(state.completion_url || state.code);
  const again = button(leaves ? "Look for another task" : "Look again", () => shell.next());
  const text = "All your answers have arrived safely. There is no task for you at the moment.";
  const hint = leaves
    ? `${MORE} You can look for another task, or finish now.`
    : `${MORE} This page looks again by itself; you can also close it and come back later through the same link.`;
  const way = leaves && wayOut(state, FINISHED);
  const waiting = new AbortController();
  const options = leaves ? {} : { leave: () => waiting.abort() };
  showText("No task right now. Thank you!", text, [el("p", hint), el("div.actions", again), way], options);
  if (!leaves) lookAgain(waiting.signal);
}

/** Ask now and then, while somebody looks, until there is something else to show. @param {AbortSignal} signal */
async function lookAgain(signal) {
  for (let pause = AGAIN_AFTER; ; pause = Math.min(2 * pause, AGAIN_AT_LEAST)) {
    await sleep(pause, { signal });
    if (document.hidden)
      await new Promise((seen) => document.addEventListener("visibilitychange", seen, { once: true }));
    if (signal.aborted) return;
    /** @type {any} */
    const state = await call("GET", path`/api/work/${shell.campaign}`).catch(() => null);
    if (signal.aborted) return;
    if (state && !(state.state === "done" && state.more)) return route(state);
  }
}

/** @param {WayOut & { done: number, needed: number, more?: boolean }} state */
function showTooFew(state) {
  const sent = state.done ? `You have sent ${plural(state.done, "answer")}. ` : "You have not sent an answer yet. ";
  const needed = `The completion code is for people who have sent at least ${state.needed}.`;
  const text = "There is no other task for you here at the moment. Thank you for your interest.";
  const reload = button("Look for a task again", () => location.reload());
  const title = state.more ? "No task for you right now" : "No more tasks for you";
  const more = state.more && el("p", MORE);
  showText(title, text, [el("p", sent, needed), more, el("div.actions", reload), wayOut(state, EARLY)]);
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

/**
 * Between two tasks. Goes on by itself, at once on Enter, and not at all for those who want to stop.
 * @param {string} title
 * @param {string} text
 * @param {{ explained?: boolean }} [options] explained: the text takes longer to read
 */
function showBetween(title, text, { explained = false } = {}) {
  const go = button("Next task", onwards, "primary");
  const stop = button("Stop for now", rest, "quiet");
  const timer = setTimeout(onwards, explained ? EXPLAINED_AFTER : NEXT_AFTER);
  const hint = el("p.muted.small", "The next task opens by itself in a moment, or when you press Enter.");
  showText(title, text, [el("div.actions", go, stop), hint], { focus: go });
  announce(`${title}. ${text}`);

  function onwards() {
    clearTimeout(timer);
    if (!go.isConnected) return;
    // Nobody is looking: a task would be held for them in vain.
    if (document.hidden) document.addEventListener("visibilitychange", onwards, { once: true });
    else shell.next();
  }

  function rest() {
    clearTimeout(timer);
    const saved = "Everything is saved, and you can close this page. Come back through the same link when you like.";
    showText(
      "See you later",
      saved,
      el(
        "div.actions",
        button("Continue with the next task", () => shell.next()),
      ),
    );
  }
}

tidy();
shell.next();
