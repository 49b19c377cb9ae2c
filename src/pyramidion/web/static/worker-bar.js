// What is always in view during a task: how much is done, whether it is saved, and for how long it is held.

import { button, el, setText } from "./worker-dom.js";

const SAVE_STATES = {
  saving: "Saving ...",
  saved: "Saved",
  sending: "Sending ...",
  offline: "Offline - kept on this device, will be sent when the network is back",
  lost: "Offline - not saved yet, please keep this page open",
  refused: "Kept on this device",
};

export function taskBar(view, review) {
  const counter = el("span", { class: "counter" });
  const meter = el("progress", { max: view.total, value: 0, "aria-label": `Statements or scales ${view.verb}` });
  const saved = el("span", { class: "save-state", role: "status" });
  const node = el(
    "footer",
    { class: "task-bar" },
    el(
      "div",
      { class: "task-bar-inner" },
      el("div", { class: "count" }, counter, meter),
      saved,
      button("Review", review, "small"),
    ),
  );
  return {
    node,
    count(done) {
      setText(counter, `${done} of ${view.total} ${view.verb}`);
      meter.value = done;
    },
    save(state) {
      saved.dataset.state = state;
      // "Saved" after every answer would drown everything else a screen reader says.
      saved.setAttribute("aria-live", ["offline", "lost", "refused"].includes(state) ? "polite" : "off");
      setText(saved, SAVE_STATES[state]);
    },
  };
}

/** Until when the task is held for this person, in words that do not hurry. */
export function leaseNote(expires) {
  const node = el("span", { class: "lease" });
  const gone = el("p", { class: "notice warn", role: "status" });
  let timer;

  /** ``until`` in seconds; null once the task was passed on. */
  function set(until) {
    clearTimeout(timer);
    const over = until === null;
    setText(
      gone,
      over
        ? "The time for this task ran out and it was passed on to somebody else. You can still finish and submit it: your work is kept."
        : "",
    );
    setText(node, over ? "" : held(until));
    const left = until * 1000 - Date.now();
    if (left > 0 && left < 2 ** 31) timer = setTimeout(() => set(until), left + 500);
  }

  set(expires ?? Infinity);
  return { node, gone, set, stop: () => clearTimeout(timer) };
}

function held(until) {
  const left = until * 1000 - Date.now();
  if (left <= 0) return "The time for this task has run out, but you can still finish and submit it.";
  if (left > 12 * 3600_000) return ""; // of no interest yet, and a time without a day would mislead
  const clock = new Date(until * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return `Held for you until ${clock} at least`; // working on it makes it longer
}
