// @ts-check
// What people read before they start, and the questions that show whether it was clear.

import { ApiError, call, path } from "../shared/api.js";
import { button, el, setText, submitButton, uniqueId, written } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { announce } from "../shared/messages.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { Shell } from "./main.js" */
/**
 * @typedef {{ text: string, answer: unknown, why?: string }} ExampleItem
 * @typedef {{ summary?: string, reference?: string, items?: ExampleItem[] }} Example
 * @typedef {{ id: string, text: string, options: { value: string, label: string }[] }} Question
 * @typedef {{ title: string, intro?: string[], steps?: string[], example?: Example, questions?: Question[] }}
 *   Instructions
 */

/**
 * The instructions, headed from `level` on: on their own page, and in the help panel of a task.
 * @param {Instructions} content
 * @param {number} level
 * @returns {Child[]}
 */
export function guide(content, level) {
  const steps = (content.steps ?? []).map((text) => el("li", { dir: "auto" }, text));
  return [
    (content.intro ?? []).map((text) => el("p.lead", { dir: "auto" }, text)),
    steps.length > 0 && [el(`h${level}`, "How to do it"), el("ol.steps", steps)],
    content.example && [el(`h${level}`, "An example"), example(content.example)],
  ];
}

/** @param {Example} shown */
function example({ summary, reference, items }) {
  const text = summary ?? reference;
  return el(
    "div.example.card",
    text && [el("p.label", summary === undefined ? "The text" : "The summary"), written(text)],
    el("ul.example-items", (items ?? []).map(exampleItem)),
  );
}

/** @param {ExampleItem} item */
function exampleItem({ text, answer, why }) {
  return el(
    "li",
    el("p", { dir: "auto", class: "example-text" }, text),
    el("p", el("span.badge", { dir: "auto" }, String(answer)), " ", el("span.muted", { dir: "auto" }, why ?? "")),
  );
}

/**
 * @typedef {{ pay: number, currency: string, minutes: number, most: number, done: number, left: number, many: boolean,
 *   consent: string, agreed: boolean, contact: string, code_after: number | null, code_when_stopping: boolean,
 *   early_code: boolean }} Terms
 */

/** What is offered and asked, before anything has to be read. @param {Terms} about */
function terms(about) {
  const { pay, currency, minutes, left, many, most, contact } = about;
  const cents = (/** @type {number} */ amount) => `${currency}${amount.toFixed(2)}`;
  const hourly = minutes > 0 ? `, about ${cents((pay / minutes) * 60)} an hour` : "";
  const number = `${many ? "more than " : ""}${plural(left, "task")} for you at the moment`;
  /** @type {[string, Child][]} */
  const rows = [
    ["Pay", pay > 0 ? `${cents(pay)} for each task${hourly}` : "none: this is voluntary work"],
    ["Time", minutes > 0 && `about ${plural(minutes, "minute")} for each task`],
    ["Tasks", `${number}${most ? `, ${most} at most for each person` : ""}. You can stop after any of them.`],
    ["Completion code", codeTerms(about)],
    ["Questions", contact && el("bdi", contact)],
  ];
  const shown = rows.filter(([, text]) => text).map(([name, text]) => el("div", el("dt", name), el("dd", text)));
  return el("dl.terms.card", shown);
}

/** When there is a code, and for whom. @param {Terms} about */
function codeTerms({ code_after: after, code_when_stopping: stopping, early_code: early }) {
  if (after === null) return "";
  const needed = after > 0 ? ` and you have done ${plural(after, "task")}` : "";
  if (stopping) return after > 0 ? `as soon as you stop after ${plural(after, "task")} or more` : "as soon as you stop";
  return `when there is nothing left for you${needed}.${early ? " There is another code if you stop before." : ""}`;
}

/** What has to be agreed to, if anything, and once only. @param {Terms} about */
function consent({ consent: text, agreed }) {
  const box = el("input", { type: "checkbox" });
  const asked = el("p.notice.warn", { role: "alert" });
  const choice = [asked, el("label.choice", box, "I have read this and agree to take part")];
  return {
    text,
    needed: !agreed,
    node:
      text &&
      el(
        "section.consent.card",
        el("h2", "Before you take part"),
        written(text),
        agreed ? el("p.muted", "You have agreed to this.") : choice,
      ),
    given: () => agreed || box.checked,
    ask() {
      setText(asked, "Please agree to take part first.");
      box.focus();
    },
  };
}

/**
 * `again`: some answers were wrong. Which ones is never said, and the next try has other questions. Without questions
 * the instructions are read once, and the first task is asked for when the person is ready.
 * @param {Shell} shell
 * @param {{ content: Instructions, tries_left: number, again: boolean, about: Terms }} state
 */
export function showInstructions(shell, { content, tries_left: triesLeft, again, about }) {
  const questions = (content.questions ?? []).map(question);
  const result = el("div.check-result.notice.warn", { tabindex: "-1", hidden: true });
  const begin = about.done ? "Go on with the next task" : "Start with the first task";
  const action = questions.length ? "Check my answers" : begin;
  const send = submitButton(action);
  const agreement = consent(about);
  const form = el(
    "form.check.card",
    { novalidate: true, onsubmit: check },
    questions.length > 0 && [el("h2", "Is it clear?"), el("p.muted", introduction())],
    result,
    questions.map((each) => each.node),
    el("div.actions", send),
  );
  const heading = el("h1", { tabindex: "-1", dir: "auto" }, content.title);
  const wrong = el(
    "div.notice.warn",
    el("p", el("strong", "Some of your answers were wrong. ")),
    el("p", "Please read the instructions and the example again. Below are other questions about them."),
  );
  const before = [again ? wrong : terms(about), (agreement.needed || !again) && agreement.node];
  shell.show(content.title, [heading, before, guide(content, 2), form], { page: "narrow" });
  if (again) announce("Some of your answers were wrong. Please read the instructions again.");

  function introduction() {
    const times =
      triesLeft === 1 ? "This is your last try, so take your time." : `You have ${plural(triesLeft, "try", "tries")}.`;
    return `${plural(questions.length, "question")}, to be sure that the instructions are clear. ${times}`;
  }

  /** @param {SubmitEvent} event */
  async function check(event) {
    event.preventDefault();
    if (!agreement.given()) return agreement.ask();
    const open = questions.filter((each) => !each.value());
    if (open.length) {
      result.hidden = false;
      setText(result, `${plural(open.length, "question is", "questions are")} not answered yet.`);
      open[0].focus();
      return;
    }
    send.disabled = true;
    setText(send, "One moment ...");
    try {
      if (agreement.needed) await tell("consent", { text: agreement.text });
      const answers = Object.fromEntries(questions.map((each) => [each.id, each.value()]));
      if (questions.length && (await tell("check", { answers })).passed) passed();
      else await shell.next();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) shell.fail(error);
      // Answered in another tab, or the campaign has changed: the server knows where this person stands.
      else await shell.next();
    } finally {
      send.disabled = false;
      setText(send, action);
    }
  }

  /** @param {string} what @param {object} body */
  function tell(what, body) {
    return shell.patiently(() => call("POST", path`/api/work/${shell.campaign}/${what}`, body), send);
  }

  // Tasks are held for a limited time, so the first one is only asked for when the person is ready.
  function passed() {
    const start = button("Start with the first task", () => shell.next(), "primary");
    shell.show(
      "Ready",
      [
        el("h1", { tabindex: "-1" }, "All correct"),
        el("p.lead", "Thank you for reading carefully. The instructions stay within reach while you work."),
        el("div.actions", start),
      ],
      { page: "message", focus: start },
    );
    announce("All answers are correct.");
  }
}

/** @param {Question} question */
function question({ id, text, options }) {
  const name = uniqueId("question");
  const inputs = options.map(({ value }) => el("input", { type: "radio", name, value }));
  const node = el(
    "fieldset.question",
    el("legend", { dir: "auto" }, text),
    options.map(({ label }, index) => el("label.choice", inputs[index], el("span", { dir: "auto" }, label))),
  );
  return { id, node, value: () => inputs.find((input) => input.checked)?.value, focus: () => inputs[0].focus() };
}
