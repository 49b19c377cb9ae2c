// @ts-check
// The frame around every kind of task: topic, help, saving, review, submission.

import { ApiError, call, path, untilAnswered } from "../shared/api.js";
import { choose } from "../shared/dialog.js";
import { button, el, focusOn, setText, written } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { announce } from "../shared/messages.js";
import { shortcuts } from "../shared/shortcuts.js";
import { Draft } from "./drafts.js";
import { aboutMinutes } from "./ends.js";
import { guide } from "./instructions.js";
import { judgeView } from "./judge.js";
import { followPanel } from "./panel.js";
import { compareView, rateView } from "./rate.js";
import { reviewSection } from "./review.js";
import { writeView } from "./write.js";

/** @import { Problem } from "../shared/api.js" */
/** @import { SaveState } from "./drafts.js" */
/** @import { Shell } from "./main.js" */
/** @import { Aspect } from "./rate.js" */
/**
 * @typedef {{ label: string, go: () => void }} OpenItem something to look at again, and how to get to it
 * @typedef {object} View one kind of task
 * @property {HTMLElement | null} panel what is read beside the work
 * @property {HTMLElement[]} work
 * @property {string} verb
 * @property {number} total
 * @property {() => any} answer
 * @property {() => OpenItem[]} open what is not answered yet
 * @property {() => OpenItem[]} [warnings] what is answered, but oddly
 * @property {HTMLElement} [direct] the only question, answered at the bottom of the page and sent without a review
 * @property {() => string} tally
 * @property {[keys: string[], meaning: string][]} [keys]
 * @property {(event: KeyboardEvent, review: () => void) => boolean} [onkey] whether the key was meant for the view
 * @property {() => void} [ready]
 * @property {() => void} [leave]
 *
 * @typedef {{ kind: string, task: string, topic?: { title: string, description?: string }, summary: string,
 *   references: string[], candidates: string[], units: { id: string, label: string }[], aspects: Aspect[],
 *   statements: number, notice?: boolean, evidence?: boolean }} Page what the server asks: each kind of task has some of these
 *
 * @typedef {{ done: number, left: number, many: boolean, seconds: number }} Progress
 *
 * @typedef {{ campaign: string, page: Page, answer: any, changed: () => void, advised: () => void }} Work what a view is
 *   made from: the page, the answer so far; changed: there is another answer; advised: only the warnings are others
 */

/** @type {Record<string, (work: Work) => View>} */
const VIEWS = { judge: judgeView, rate: rateView, compare: compareView, write: writeView };

/** @param {Shell} shell @param {any} state @returns {{ problems: (text: string, list?: Problem[]) => void }} */
export function showTask(shell, state) {
  const { page, assignment, content } = state;
  const title = content?.title || "Your task";
  const draft = new Draft({ campaign: shell.campaign, assignment, task: page.task, saved: state.draft });
  const view = VIEWS[page.kind]({
    campaign: shell.campaign,
    page,
    answer: draft.answer ?? {},
    changed,
    advised: refresh,
  });
  const lease = leaseNote(state.expires);
  const review = reviewSection({ view, comment: draft.answer?.comment ?? "", changed, submit });
  const bar = view.direct ? directBar(view.direct, review.send) : taskBar(view, () => goToReview());
  const over = new AbortController();
  let sending = false;

  draft.addEventListener("state", (event) => showState(/** @type {CustomEvent} */ (event).detail), {
    signal: over.signal,
  });
  document.addEventListener("keydown", onkey, { signal: over.signal });
  shell.show(
    title,
    [
      header(),
      el(
        "div",
        { class: `task-grid ${page.kind} ${view.panel ? "" : "alone"}` },
        view.panel,
        el("div.work", view.work, review.node),
      ),
      bar.node,
    ],
    { page: "task", leave },
  );
  const unfollow = followPanel(view.panel);
  refresh();
  view.ready?.();
  if (draft.restored) {
    bar.save("saved");
    announce("Your earlier answers are back.");
  }

  function leave() {
    over.abort();
    draft.close();
    lease.stop();
    unfollow();
    view.leave?.();
  }

  function header() {
    return el(
      "header.task-head",
      el(
        "div.task-top",
        el("div.task-title", el("h1", { tabindex: "-1" }, el("bdi", { dir: "auto" }, title))),
        el(
          "div.actions.tools",
          button("Instructions", help, "small"),
          button("I cannot do this one", giveBack, "small"),
          button("Stop", stop, "small"),
        ),
      ),
      el("p.meta.muted.small", state.progress && el("span", progressText(state.progress)), lease.node),
      lease.gone,
      topicBox(page),
    );
  }

  function stop() {
    draft.flush();
    shell.stop();
  }

  function answer() {
    return { ...view.answer(), comment: review.comment() };
  }

  function changed() {
    draft.change(answer());
    refresh();
  }

  function refresh() {
    const open = view.open();
    const done = view.total - open.length;
    bar.count(done);
    review.refresh(open);
    shell.title(`${done} of ${view.total} ${view.verb} - ${title}`);
  }

  /** @param {SaveState} detail */
  function showState({ state: name, error, expires, finished }) {
    if (name === "elsewhere") return elsewhere(finished);
    if (error?.status === 401) return shell.fail(error);
    bar.save(["offline", "broken"].includes(name) && !draft.kept ? "lost" : name);
    if (expires !== undefined) lease.set(expires);
  }

  function elsewhere(finished = false) {
    if (sending || document.hasFocus()) return;
    const text = "This task was sent or given back in another tab of this browser.";
    if (finished) shell.between("Finished in another tab", text, { explained: true });
    else showTask(shell, state);
  }

  function goToReview() {
    if (view.direct) return view.open()[0]?.go();
    focusOn(review.heading, { block: "start", smooth: true });
  }

  /** @param {KeyboardEvent} event */
  function onkey(event) {
    if (sending || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (!view.open().length) submit();
      else goToReview();
      event.preventDefault();
    } else if (shortcuts.takes(event) && !review.node.contains(/** @type {Node} */ (event.target))) {
      if (event.key === "?") help();
      else if (!view.onkey?.(event, view.direct ? submit : goToReview)) return;
      event.preventDefault();
    }
  }

  function help() {
    /** @type {[string[], string][]} */
    const rows = [
      ...(view.keys ?? []),
      [["Ctrl", "Enter"], "submit, once everything is answered"],
      [["?"], "show this help"],
    ];
    /** @param {string[]} keys */
    const caps = (keys) => keys.map((name) => el("kbd", name));
    const list = rows.map(([keys, meaning]) => el("li", el("span.keys", caps(keys)), el("span", meaning)));
    choose(title, [
      el("div.guide", content && guide(content, 3)),
      el("div.keyboard", el("h3", "Keys, if you like"), el("ul.key-list", list), shortcuts.toggle()),
    ]);
  }

  async function giveBack() {
    const text =
      "Somebody else gets this task. Your answers here are discarded, and you get another task if there is one.";
    const chosen = await choose("Give this task back?", el("p", text), [
      ["Give it back", "yes", "danger"],
      ["Keep working on it", "", "primary"],
    ]);
    if (chosen !== "yes") return;
    try {
      await untilAnswered(() => call("POST", path`/api/work/${shell.campaign}/${assignment}/return`, {}), {
        onwait: (_, error) => review.problems(`${waitingFor(error)}. The task will be given back as soon as possible.`),
        signal: over.signal,
      });
    } catch (error) {
      if (!(error instanceof ApiError) || error.unreachable) return; // the page was left meanwhile
      if (error.status !== 409) return shell.fail(error);
    }
    draft.forget();
    announce("The task was given back.");
    await shell.next();
  }

  async function submit() {
    if (sending) return review.nudge.dispatchEvent(new Event("nudge"));
    sending = true;
    const given = answer();
    // A late draft would only get in the way, and an answer that may have arrived must not change any more.
    draft.close();
    draft.submitting(given);
    review.sending();
    bar.save("sending");
    for (const part of [...view.work, view.direct]) if (part) part.inert = true;
    try {
      const address = path`/api/work/${shell.campaign}/${assignment}/submit`;
      const receipt = await untilAnswered(() => call("POST", address, { key: draft.key, answer: given }), {
        onwait(seconds, error) {
          review.waiting(seconds, draft.kept, waitingFor(error));
          bar.save(!draft.kept ? "lost" : error.broken ? "broken" : "offline");
        },
        nudge: review.nudge,
      });
      draft.forget();
      thank(receipt);
    } catch (error) {
      refused(error);
    }
  }

  /** @param {{ counted: boolean }} receipt */
  function thank({ counted }) {
    const text = counted
      ? "Your answers have arrived."
      : "Your answers have arrived and are kept. Meanwhile the task had been passed on to somebody else.";
    if (!view.direct || !counted) return shell.between("Thank you", text, { explained: !counted });
    announce(text);
    shell.next();
  }

  /** @param {unknown} error */
  function refused(error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) return shell.fail(error); // stays a submission, and is sent once they are back
    draft.editing();
    if (error.status === 403) return shell.next(); // blocked meanwhile: the server says what to show
    if (error.status === 409) {
      draft.forget();
      const text = `These answers were not accepted: ${error.message}. There is nothing you need to do; another task follows.`;
      return shell.between("This task is already settled", text, { explained: true });
    }
    // The draft was closed for the submission: open the page anew, with the answers as they are and what is wrong.
    const reopened = showTask(shell, state);
    const listed = error.problems.length > 0;
    reopened.problems(listed ? "Your answers were not accepted yet. Please check:" : error.message, error.problems);
  }

  return { problems: review.problems };
}

/** The topic, named as such: its text may read like an order. @param {Page} page */
function topicBox({ kind, topic }) {
  if (!topic?.title && !topic?.description) return null;
  const name = [el("span.muted", "Topic: "), el("bdi.topic", { dir: "auto" }, topic.title)];
  if (!topic.description) return el("p.about", name);
  // Judging needs the summary only; two candidates need the height, and on a phone every line is in the way.
  const folded = ["judge", "compare"].includes(kind) || !matchMedia("(min-width: 52rem)").matches;
  return el(
    "details.about",
    { open: !folded },
    el("summary", name),
    el("p.small.muted", "What the summaries are about. It is not your task."),
    written(topic.description),
  );
}

/** @param {Progress} progress */
export function progressText({ done, left, many, seconds }) {
  const parts = [
    done ? `${plural(done, "task")} done in ${aboutMinutes(seconds)}` : "Your first task",
    left ? `${many ? "more than " : ""}${left} more for you after this one` : "the last one for you at the moment",
  ];
  return parts.join(", ");
}

// -- always in view: how much is done, whether it is saved, for how long it is held --------------------------

/** Why nothing goes on, for people. @param {ApiError} error */
export const waitingFor = (error) => (error.broken ? "The server has a problem" : "No connection");

/** @type {Record<string, string>} */
const SAVE_STATES = {
  saving: "Saving ...",
  saved: "Saved",
  sending: "Sending ...",
  offline: "Offline - kept on this device, will be sent when the network is back",
  broken: "The server has a problem - your answers are kept here and sent when it works again",
  lost: "Offline - not saved yet, please keep this page open",
  refused: "Kept on this device",
};

/** @param {View} view @param {() => void} review */
function taskBar(view, review) {
  const counter = el("span.counter");
  const meter = el("progress", { max: view.total, value: 0, "aria-label": `Statements or scales ${view.verb}` });
  const saved = saveState();
  const inner = el(
    "div.task-bar-inner",
    el("div.count", counter, meter),
    saved.node,
    button("Review", review, "small"),
  );
  return {
    node: el("footer.task-bar", inner),
    /** @param {number} done */
    count(done) {
      setText(counter, `${done} of ${view.total} ${view.verb}`);
      meter.value = done;
    },
    save: saved.show,
  };
}

/** The only question of a task, and the way to the next. @param {HTMLElement} question @param {HTMLElement} send */
function directBar(question, send) {
  const saved = saveState();
  const node = el("footer.task-bar.direct", el("div.task-bar-inner", question, send, saved.node));
  return { node, count() {}, save: saved.show };
}

function saveState() {
  const node = el("span.save-state", { role: "status" });
  /** @param {string} state */
  const show = (state) => {
    node.dataset.state = state;
    // "Saved" after every answer would drown everything else a screen reader says.
    node.setAttribute("aria-live", ["offline", "broken", "lost", "refused"].includes(state) ? "polite" : "off");
    setText(node, SAVE_STATES[state]);
  };
  return { node, show };
}

/** Until when the task is held for this person, in words that do not hurry. @param {number | undefined} expires */
function leaseNote(expires) {
  const node = el("span.lease");
  const gone = el("p.notice.warn", { role: "status" });
  const passedOn =
    "The time for this task ran out and it was passed on to somebody else. You can still finish and submit it: your work is kept.";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {number | null} until in seconds; null once the task was passed on */
  function set(until) {
    clearTimeout(timer);
    setText(gone, until === null ? passedOn : "");
    setText(node, until === null ? "" : held(until));
    if (until === null) return;
    const left = until * 1000 - Date.now();
    if (left > 0 && left < 2 ** 31) timer = setTimeout(() => set(until), left + 500);
  }

  set(expires ?? Infinity);
  return { node, gone, set, stop: () => clearTimeout(timer) };
}

/** @param {number} until */
function held(until) {
  const left = until * 1000 - Date.now();
  if (left <= 0) return "The time for this task has run out, but you can still finish and submit it.";
  if (left > 12 * 3600_000) return ""; // of no interest yet, and a time without a day would mislead
  const clock = new Date(until * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return `Held for you until at least ${clock}`; // working on it makes it longer
}
