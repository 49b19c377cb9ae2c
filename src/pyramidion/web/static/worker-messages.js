// Pages that only say something: thank you, not now, not here.

import { announce, button, el } from "./worker-dom.js";

const NEXT_AFTER = 4000;
const EXPLAINED_AFTER = 12000;

const MESSAGES = {
  paused: [
    "A short break",
    "This campaign is paused at the moment. Nothing of your work is lost. Please come back later through the same link.",
    true,
  ],
  closed: [
    "This campaign is finished",
    "Enough answers have come in, so no more tasks are given out. Thank you for your interest.",
  ],
  "failed-check": [
    "Thank you for trying",
    "Some answers to the questions about the instructions were not right twice, so we cannot offer you tasks in this campaign. This says nothing about you: the task is a peculiar one. Thank you for your time.",
  ],
  blocked: [
    "No tasks for you here",
    "You do not get tasks in this study any more. If you think that this is a mistake, please write to the person who invited you.",
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
  unknown: ["Nothing to do at the moment", "There is no task for you right now. Please look in again later.", true],
};

export function showMessage(shell, name, detail) {
  const [title, text, again] = MESSAGES[name] ?? MESSAGES.unknown;
  shell.show(
    title,
    [
      el("h1", { tabindex: "-1" }, title),
      el("p", { class: "lead" }, text),
      detail && el("p", { class: "muted", dir: "auto" }, detail),
      again &&
        el(
          "div",
          { class: "actions" },
          button("Look again", () => location.reload()),
        ),
    ],
    { page: "message" },
  );
}

/** Only a web address is ever linked: the text comes from a form. */
function webAddress(text) {
  try {
    const url = new URL(text);
    return ["https:", "http:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

export function showDone(shell, { completion_url: link, code }) {
  const url = link ? webAddress(link) : null;
  shell.show(
    "All done - thank you",
    [
      el("h1", { tabindex: "-1" }, "All done. Thank you!"),
      el("p", { class: "lead" }, "There is nothing left for you to do here. All your answers have arrived safely."),
      code && [el("p", {}, "Your completion code:"), codeBox(code)],
      url && [
        el("p", {}, "One last step: confirm on the platform you came from that you have finished."),
        el(
          "div",
          { class: "actions" },
          el("a", { class: "button primary", href: url, rel: "noreferrer" }, "Confirm and finish"),
        ),
      ],
      !url && !code && el("p", { class: "muted" }, "You can close this page."),
    ],
    { page: "message" },
  );
}

function codeBox(code) {
  const copy = button(
    "Copy",
    async () => {
      try {
        await navigator.clipboard.writeText(code);
        copy.textContent = "Copied";
        announce("Copied.");
      } catch {
        getSelection().selectAllChildren(box);
      }
    },
    "small",
  );
  const box = el("code", { class: "code-box" }, code);
  return el("p", { class: "actions" }, box, copy);
}

/** Between two tasks. Goes on by itself, at once on Enter, and not at all for those who want to stop. */
export function showBetween(shell, title, text, { explained = false } = {}) {
  const go = button("Next task", onwards, "primary");
  const stop = button("Stop for now", rest, "quiet");
  const timer = setTimeout(onwards, explained ? EXPLAINED_AFTER : NEXT_AFTER);
  shell.show(
    title,
    [
      el("h1", { tabindex: "-1" }, title),
      el("p", { class: "lead" }, text),
      el("div", { class: "actions" }, go, stop),
      el("p", { class: "muted small" }, "The next task opens by itself in a moment, or when you press Enter."),
    ],
    { page: "message", focus: go },
  );
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
    const back = button("Go on with the next task", () => shell.next());
    shell.show(
      "See you later",
      [
        el("h1", { tabindex: "-1" }, "See you later"),
        el(
          "p",
          { class: "lead" },
          "Everything is saved, and you can close this page. Come back through the same link when you like.",
        ),
        el("div", { class: "actions" }, back),
      ],
      { page: "message" },
    );
  }
}
