// The frame around every kind of task: topic, help, saving, review, submission.
//
// A view of a kind is made from {page, answer, changed} and gives {panel, work, verb, total, answer(), open(), tally(),
// keys, onkey(event), ready()}. ``open`` lists what is unanswered as {label, go}.

import { assignmentPath, call, Refused, untilAnswered } from "./worker-api.js";
import { leaseNote, taskBar } from "./worker-bar.js";
import { compareView } from "./worker-compare.js";
import { announce, button, count, dialog, el, focusOn, written } from "./worker-dom.js";
import { Draft } from "./worker-drafts.js";
import { guide } from "./worker-instructions.js";
import { judgeView } from "./worker-judge.js";
import { followPanel } from "./worker-panel.js";
import { rateView } from "./worker-rate.js";
import { reviewSection } from "./worker-review.js";
import { shortcuts } from "./worker-shortcuts.js";
import { writeView } from "./worker-write.js";

const VIEWS = { judge: judgeView, rate: rateView, compare: compareView, write: writeView };

export function showTask(shell, state) {
  const { page, assignment, content } = state;
  const title = content?.title || "Your task";
  const draft = new Draft({ campaign: shell.campaign, assignment, task: page.task, saved: state.draft });
  const view = VIEWS[page.kind]({ page, answer: draft.answer ?? {}, changed });
  const bar = taskBar(view, () => goToReview());
  const lease = leaseNote(state.expires);
  const review = reviewSection({ view, comment: draft.answer?.comment ?? "", changed, submit });
  const over = new AbortController();
  let sending = false;

  draft.addEventListener("state", ({ detail }) => saveState(detail), { signal: over.signal });
  document.addEventListener("keydown", onkey, { signal: over.signal });
  shell.show(
    title,
    [
      header(),
      el(
        "div",
        { class: `task-grid ${page.kind} ${view.panel ? "" : "alone"}` },
        view.panel,
        el("div", { class: "work" }, view.work, review.node),
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
    const { title: topic, description } = page.topic ?? {};
    // Judging needs the summary only, and on a phone every line above it is in the way.
    const about =
      description &&
      (page.kind === "judge"
        ? el("details", { class: "about" }, el("summary", {}, "About the topic"), written(description))
        : el("div", { class: "about" }, written(description)));
    const done = state.progress?.done;
    return el(
      "header",
      { class: "task-head" },
      el(
        "div",
        { class: "task-top" },
        el(
          "div",
          { class: "task-title" },
          topic && el("p", { class: "topic" }, el("bdi", { dir: "auto" }, topic)),
          el("h1", { tabindex: "-1" }, el("bdi", { dir: "auto" }, title)),
        ),
        el(
          "div",
          { class: "actions tools" },
          button("Instructions", help, "small"),
          button("I cannot do this one", giveBack, "small"),
        ),
      ),
      el(
        "p",
        { class: "meta muted small" },
        state.progress && el("span", {}, done ? `${count(done, "task")} done` : "Your first task"),
        lease.node,
      ),
      lease.gone,
      about,
    );
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

  function saveState({ state: name, error, expires, finished }) {
    if (name === "elsewhere") return elsewhere(finished);
    if (error?.status === 401) return shell.fail(error);
    bar.save(name === "offline" && !draft.kept ? "lost" : name);
    if (expires !== undefined) lease.set(expires);
  }

  function elsewhere(finished) {
    if (sending || document.hasFocus()) return;
    if (finished)
      shell.between("Finished in another tab", "This task was sent or given back in another tab of this browser.", {
        explained: true,
      });
    else showTask(shell, state);
  }

  function goToReview() {
    focusOn(review.heading, { block: "start", smooth: true });
  }

  function onkey(event) {
    if (sending || document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (!view.open().length) submit();
      else goToReview();
      event.preventDefault();
    } else if (shortcuts.takes(event) && !review.node.contains(event.target)) {
      if (event.key === "?") help();
      else if (!view.onkey?.(event, goToReview)) return;
      event.preventDefault();
    }
  }

  function help() {
    const rows = [
      ...(view.keys ?? []),
      [["Ctrl", "Enter"], "submit, once everything is answered"],
      [["?"], "show this help"],
    ];
    const list = rows.map(([keys, meaning]) =>
      el(
        "li",
        {},
        el(
          "span",
          { class: "keys" },
          keys.map((name) => el("kbd", {}, name)),
        ),
        el("span", {}, meaning),
      ),
    );
    dialog(title, [
      el("div", { class: "guide" }, content && guide(content, 3)),
      el(
        "div",
        { class: "keyboard" },
        el("h3", {}, "Keys, if you like"),
        el("ul", { class: "key-list" }, list),
        shortcuts.toggle(),
      ),
    ]);
  }

  async function giveBack() {
    const text = el(
      "p",
      {},
      "Somebody else will get this task. What you have answered here is thrown away, and you get another task if there is one.",
    );
    if (
      (await dialog("Give this task back?", text, [
        ["Give it back", "yes", "danger"],
        ["Keep working on it", "", "primary"],
      ])) !== "yes"
    )
      return;
    try {
      await untilAnswered(() => call("POST", assignmentPath(assignment, "return"), {}), {
        onwait: () => review.problems("No connection. The task will be given back as soon as there is one."),
        signal: over.signal,
      });
    } catch (error) {
      if (!(error instanceof Refused)) return; // the page was left meanwhile
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
    for (const part of [view.work].flat()) part.inert = true;
    try {
      const path = assignmentPath(assignment, "submit");
      const receipt = await untilAnswered(() => call("POST", path, { key: draft.key, answer: given }), {
        onwait(seconds) {
          review.waiting(seconds, draft.kept);
          bar.save(draft.kept ? "offline" : "lost");
        },
        nudge: review.nudge,
      });
      draft.forget();
      thank(receipt);
    } catch (error) {
      refused(error);
    }
  }

  function thank({ counted }) {
    const text = counted
      ? "Your answers have arrived."
      : "Your answers have arrived and are kept. The task had been passed on to somebody else in the meantime.";
    shell.between("Thank you", text, { explained: !counted });
  }

  function refused(error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 401) return shell.fail(error); // stays a submission, and is sent once they are back
    draft.editing();
    if (error.status === 403) return shell.next(); // blocked meanwhile: the server says what to show
    if (error.status === 409) {
      draft.forget();
      const text = `These answers could not be taken in: ${error.message}. There is nothing you need to do; here comes another task.`;
      return shell.between("This task is settled already", text, { explained: true });
    }
    // The draft was closed for the submission: open the page anew, with the answers as they are and what is wrong.
    const reopened = showTask(shell, state);
    const listed = error.problems.length > 0;
    reopened.problems(listed ? "This could not be taken in yet. Please look again at:" : error.message, error.problems);
  }

  return { problems: review.problems };
}
