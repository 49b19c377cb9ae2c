// @ts-check
// The shell: asks the server what this person should see now, and shows it.

import { ApiError, call, path, sleep, untilAnswered } from "../shared/api.js";
import { byId, el, put, setText } from "../shared/dom.js";
import { announce } from "../shared/messages.js";
import { sendUnconfirmed, tidy } from "./drafts.js";
import { showBetween, showEnd, showMessage, showStop } from "./ends.js";
import { showInstructions } from "./instructions.js";
import { showTask, waitingFor } from "./task.js";

/** @import { Child } from "../shared/dom.js" */
/** @typedef {{ page?: string, focus?: HTMLElement | null, leave?: (() => void) | null }} ShowOptions */
/** @typedef {typeof shell} Shell */

const app = byId("app");
const SLOW = 0.3;

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

  /** @param {{ arriving?: boolean }} [options] arriving: whoever has not begun is told what it is about first */
  async next({ arriving = false } = {}) {
    const address = path`/api/work/${shell.campaign}` + (arriving ? "?arriving=true" : "");
    const arrived = new AbortController();
    sleep(SLOW, { signal: arrived.signal }).then(() => arrived.signal.aborted || showLoading());
    try {
      const [sent, state] = await untilAnswered(
        async () => [await sendUnconfirmed(shell.campaign), await call("GET", address)],
        { onwait: (_, error) => showLoading(`${waitingFor(error)}. Trying again ...`) },
      );
      arrived.abort();
      shell.route(state);
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

  /** @param {string} title @param {string} text @param {{ explained?: boolean }} [options] */
  between: (title, text, options) => showBetween(shell, title, text, options),

  stop: () => showStop(shell),

  /** @param {unknown} error */
  fail(error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) showMessage(shell, { state: "invited" });
    else showMessage(shell, { state: "refused", detail: error.message });
  },

  /** @param {any} state */
  route(state) {
    if (state.state === "task") showTask(shell, state);
    else if (state.state.startsWith("instructions")) showInstructions(shell, state);
    else showEnd(shell, state);
  },
};

function showLoading(text = "Loading ...") {
  const shown = app.querySelector(".loading");
  if (shown) setText(shown, text);
  else shell.show("Loading", el("p.loading", text), { page: "message" });
  if (text !== "Loading ...") announce(text);
}

tidy();
// A reload goes on where the work is, not where the window was.
history.scrollRestoration = "manual";
shell.next({ arriving: true });
