// The shell: asks the server what this person should see now, and shows it.

import { call, Refused, sleep, untilAnswered, workPath } from "./worker-api.js";
import { announce, el, put, setText } from "./worker-dom.js";
import { sendUnconfirmed, tidy } from "./worker-drafts.js";
import { showInstructions } from "./worker-instructions.js";
import { showBetween, showDone, showMessage } from "./worker-messages.js";
import { showTask } from "./worker-task.js";

const app = document.getElementById("app");
const SLOW = 0.3;

const shell = {
  campaign: app.dataset.campaign,
  leave: null,

  title(text) {
    document.title = `${text} - pyramidion`;
  },

  /** Replace the page. ``leave`` is called once, when the next page comes. */
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
        async () => [await sendUnconfirmed(shell.campaign), await call("GET", workPath(shell.campaign))],
        { onwait: () => showLoading("No connection. Trying again ...") },
      );
      arrived.abort();
      route(state);
      if (sent) announce("The answers of your last task have been sent.");
    } catch (error) {
      arrived.abort();
      shell.fail(error);
    }
  },

  /** Ask again until there is an answer, saying so on the button that asked. */
  patiently(action, button) {
    const onwait = () => {
      setText(button, "No connection - trying again ...");
      announce("No connection. Trying again.");
    };
    return untilAnswered(action, { onwait });
  },

  between: (title, text, options) => showBetween(shell, title, text, options),

  fail(error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 401) showMessage(shell, "invited");
    else showMessage(shell, "refused", error.message);
  },
};

function showLoading(text = "Loading ...") {
  const shown = app.querySelector(".loading");
  if (shown) setText(shown, text);
  else shell.show("Loading", [el("p", { class: "loading" }, text)], { page: "message" });
  if (text !== "Loading ...") announce(text);
}

function route(state) {
  switch (state.state) {
    case "instructions-and-check":
      return showInstructions(shell, state);
    case "task":
      return showTask(shell, state);
    case "done":
      return showDone(shell, state);
    default:
      return showMessage(shell, state.state);
  }
}

tidy();
shell.next();
