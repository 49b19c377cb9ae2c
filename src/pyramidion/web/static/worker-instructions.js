// What people read before they start, and the questions that show whether it was clear.

import { call, Refused, workPath } from "./worker-api.js";
import { announce, button, count, el, focusOn, put, setText, uniqueId, written } from "./worker-dom.js";

const heading = (level, text) => el(`h${level}`, {}, text);

/** The instructions, headed from ``level`` on: on their own page, and in the help panel of a task. */
export function guide(content, level) {
  return [
    (content.intro ?? []).map((text) => el("p", { class: "lead", dir: "auto" }, text)),
    content.steps?.length && [
      heading(level, "How to do it"),
      el(
        "ol",
        { class: "steps" },
        content.steps.map((text) => el("li", { dir: "auto" }, text)),
      ),
    ],
    content.example && [heading(level, "An example"), example(content.example)],
  ];
}

function example({ summary, reference, items }) {
  const text = summary ?? reference;
  return el(
    "div",
    { class: "example card" },
    text && [el("p", { class: "label" }, summary === undefined ? "The text" : "The summary"), written(text)],
    el("ul", { class: "example-items" }, (items ?? []).map(exampleItem)),
  );
}

function exampleItem({ text, answer, why }) {
  return el(
    "li",
    {},
    el("p", { dir: "auto", class: "example-text" }, text),
    el(
      "p",
      {},
      el("span", { class: "badge", dir: "auto" }, String(answer)),
      " ",
      el("span", { class: "muted", dir: "auto" }, why ?? ""),
    ),
  );
}

export function showInstructions(shell, { content, tries_left: triesLeft }) {
  const questions = (content.questions ?? []).map(question);
  const result = el("div", { class: "check-result", tabindex: "-1", hidden: true });
  const tries = el("p", { class: "muted" });
  const send = el(
    "button",
    { type: "submit", class: "button primary" },
    questions.length ? "Check my answers" : "Start",
  );
  const form = el(
    "form",
    { class: "check card", novalidate: true, onsubmit: check },
    questions.length > 0 && [el("h2", {}, "Is it clear?"), tries],
    result,
    questions.map((each) => each.node),
    el("div", { class: "actions" }, send),
  );
  showTries(triesLeft);
  shell.show(content.title, [el("h1", { tabindex: "-1", dir: "auto" }, content.title), guide(content, 2), form], {
    page: "narrow",
  });

  function showTries(left) {
    const times = left === 1 ? "This is your last try, so take your time." : `You have ${count(left, "try", "tries")}.`;
    setText(tries, `${count(questions.length, "question")}, to be sure that the instructions are clear. ${times}`);
  }

  async function check(event) {
    event.preventDefault();
    const open = questions.filter((each) => !each.value());
    if (open.length) {
      tell("warn", el("p", {}, `${count(open.length, "question is", "questions are")} not answered yet.`));
      open[0].focus();
      return;
    }
    send.disabled = true;
    setText(send, "Checking ...");
    try {
      const answers = Object.fromEntries(questions.map((each) => [each.id, each.value()]));
      const outcome = await shell.patiently(() => call("POST", workPath(shell.campaign, "/check"), { answers }), send);
      if (outcome.passed) passed();
      else if (outcome.tries_left <= 0) await shell.next();
      else failed(outcome);
    } catch (error) {
      if (!(error instanceof Refused) || error.status === 401) shell.fail(error);
      // Answered in another tab, or the campaign has changed: the server knows where this person stands.
      else await shell.next();
    } finally {
      send.disabled = false;
      setText(send, questions.length ? "Check my answers" : "Start");
    }
  }

  // Tasks are held for a limited time, so the first one is only asked for when the person is ready.
  function passed() {
    const start = button("Start with the first task", () => shell.next(), "primary");
    shell.show(
      "Ready",
      [
        el("h1", { tabindex: "-1" }, questions.length ? "All correct" : "Ready"),
        el(
          "p",
          { class: "lead" },
          "Thank you for reading carefully. The instructions stay within reach while you work.",
        ),
        el("div", { class: "actions" }, start),
      ],
      { page: "message", focus: start },
    );
    announce("All answers are correct.");
  }

  function failed(outcome) {
    const wrong = questions.filter((each) => outcome.wrong.includes(each.id));
    const reasons = new Map(wrong.map((each) => [each, outcome.why?.[each.id] ?? reason(content, each.text)]));
    for (const each of questions) each.mark(wrong.includes(each), reasons.get(each));
    showTries(outcome.tries_left);
    const reread = el("details", {}, el("summary", {}, "The rules and the example again"), guide(content, 3).slice(1));
    tell(
      "warn",
      el(
        "p",
        {},
        el("strong", {}, `${count(wrong.length, "answer was", "answers were")} not right. `),
        "They are marked below. Look at the rules and at the reasons in the example again, then change them.",
      ),
      reread,
    );
    reread.open = [...reasons.values()].some((why) => !why);
    focusOn(result, { block: "start", smooth: true });
    announce(`${count(wrong.length, "answer was", "answers were")} not right. You can try again.`);
  }

  function tell(kind, ...children) {
    result.hidden = false;
    result.className = `check-result notice ${kind}`;
    put(result, ...children);
  }
}

/** The example's own explanation where a question is about one of its items. */
function reason(content, text) {
  return content.example?.items?.find((item) => item.text && text.includes(item.text))?.why;
}

function question({ id, text, options }) {
  const name = uniqueId("question");
  const note = el("p", { class: "wrong-note", id: `${name}-note`, hidden: true });
  const inputs = options.map(({ value }) =>
    el("input", { type: "radio", name, value, "aria-describedby": `${name}-note` }),
  );
  const node = el(
    "fieldset",
    { class: "question" },
    el("legend", { dir: "auto" }, text),
    note,
    options.map(({ label }, index) =>
      el("label", { class: "choice" }, inputs[index], el("span", { dir: "auto" }, label)),
    ),
  );
  node.addEventListener("change", () => node.classList.remove("is-wrong"));
  return {
    id,
    text,
    node,
    value: () => inputs.find((input) => input.checked)?.value,
    focus: () => inputs[0].focus(),
    mark(wrong, why) {
      node.classList.toggle("is-wrong", wrong);
      note.hidden = !wrong;
      setText(note, wrong ? ["This was not right.", why].filter(Boolean).join(" ") : "");
      if (wrong) for (const input of inputs) input.checked = false;
    },
  };
}
