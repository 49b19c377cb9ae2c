// @ts-check
// Modal dialogs. One that asks stays open, with the reason, until the server has agreed.

import { busy, button, el, put, submitButton, uniqueId } from "./dom.js";
import { errorBox } from "./messages.js";

/** @import { Child } from "./dom.js" */
/**
 * A field of a form: its node, its value, and `check`, which shows what is wrong with it and says whether anything is.
 * @typedef {{ node: HTMLElement | null, value: () => any, focus?: () => void, check?: () => boolean }} Field
 * @typedef {{ value: string, title: string, help: string, confirm?: string, danger?: boolean, amount?: boolean }}
 *   Choice
 * @typedef {{ action: string | null, reason: string | null, amount: number | null }} Decision
 */

/**
 * Open a dialog that removes itself when it is closed. The focus goes back to where it was, or near it.
 * @param {HTMLDialogElement} dialog
 * @param {() => void} [onClose]
 */
function openModal(dialog, onClose) {
  const opener = document.activeElement;
  const near = opener?.closest("td, dialog, section");
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (!opener?.isConnected) near?.querySelector("button")?.focus();
    onClose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * A dialog of the staff's pages, with a cross to close it.
 * @param {{ title: Child, wide?: boolean, onClose?: () => void }} about
 * @param {...Child} content
 */
export function openDialog({ title, wide = false, onClose }, ...content) {
  const heading = uniqueId("dialog");
  const cross = [el("span", { "aria-hidden": "true" }, "×"), el("span.visually-hidden", "Close")];
  const dialog = el(
    "dialog",
    { class: wide ? "m-dialog m-dialog-wide" : "m-dialog", "aria-labelledby": heading },
    el(
      "header.m-dialog-head",
      el("h2", { id: heading, tabindex: "-1" }, title),
      el("button.m-close", { type: "button", onclick: () => dialog.close() }, cross),
    ),
    content,
  );
  return openModal(dialog, onClose);
}

/** Something that has to be read before going on. @param {string} title @param {string[]} lines */
export function openProblem(title, lines) {
  const paragraphs = lines.filter(Boolean).map((line) => el("p", el("bdi", line)));
  return openDialog({ title }, el("div.m-dialog-content", { role: "alert" }, paragraphs));
}

/**
 * A dialog of the workers' pages, which closes by its buttons, Escape, or a click beside it.
 * @param {string} title
 * @param {Child} content
 * @param {[label: string, value: string, kind: string][]} [choices]
 * @returns {Promise<string>} what was chosen, "" for nothing
 */
export function choose(title, content, choices = [["Close", "", "primary"]]) {
  const heading = el("h2", { id: uniqueId("dialog"), tabindex: "-1" }, title);
  const dialog = el("dialog", { "aria-labelledby": heading.id }, heading, content);
  const buttons = choices.map(([label, value, kind]) => button(label, () => dialog.close(value), kind));
  dialog.append(el("div.actions.dialog-actions", buttons));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close(""));
  return new Promise((resolve) => {
    openModal(dialog, () => resolve(dialog.returnValue));
    heading.focus();
    dialog.scrollTop = 0;
  });
}

/**
 * A form in a dialog that closes once `run` has succeeded; until then it shows the error.
 * @param {{ title: Child, confirm: string, fields: Child, run: () => Promise<unknown>, check?: () => boolean,
 *   wide?: boolean }} about
 *   check: whether the form can be sent; where it cannot, it says why
 */
export function openForm({ title, confirm, fields, run, check = () => true, wide = false }) {
  const problem = el("div.m-dialog-problem");
  const submit = submitButton(confirm);
  const cancel = button("Cancel", () => dialog.close());
  const form = el(
    "form.m-dialog-form",
    { novalidate: true },
    el("div.m-dialog-body", fields, problem),
    el("footer.m-dialog-foot", cancel, submit),
  );
  const dialog = openDialog({ title, wide }, form);
  const send = async () => {
    put(problem);
    try {
      await run();
      dialog.close();
    } catch (error) {
      put(problem, errorBox(error));
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (check()) busy(submit, send);
  });
  return { form, submit, cancel };
}

/**
 * Ask, then do. `run` may throw: its error is shown and the dialog stays.
 * @param {{ title: Child, intro?: Child, choices?: Choice[], confirm?: string, danger?: boolean, reason?: boolean,
 *   reasons?: string[], wide?: boolean, run: (decision: Decision) => Promise<unknown> }} question
 *   reasons: texts offered for the reason field; reason: false asks for none
 */
export function ask({
  title,
  intro = [],
  choices = [],
  confirm = "Save",
  danger = false,
  reason = true,
  reasons = [],
  wide = false,
  run,
}) {
  const parts = { action: choiceField(choices), amount: amountField(), reason: reasonField(reason, reasons) };
  const chosen = () => choices.find((choice) => choice.value === parts.action.value());
  const check = () => {
    const asked = [parts.action, chosen()?.amount ? parts.amount : null, parts.reason];
    const [wrong] = asked.filter((part) => part?.check?.());
    wrong?.focus?.();
    return !wrong;
  };
  const decide = () => {
    const amount = chosen()?.amount ? parts.amount.value() : null;
    return run({ action: parts.action.value(), reason: parts.reason.value(), amount });
  };
  const fields = [intro, parts.action.node, parts.amount.node, parts.reason.node];
  const { form, submit, cancel } = openForm({ title, confirm, fields, run: decide, check, wide });
  const adapt = () => {
    if (parts.amount.node) parts.amount.node.hidden = !chosen()?.amount;
    submit.textContent = chosen()?.confirm ?? confirm;
    submit.classList.toggle("danger", Boolean(chosen()?.danger ?? danger));
  };
  form.addEventListener("change", adapt);
  adapt();
  const first = choices.length ? parts.action : reason ? parts.reason : danger ? cancel : submit;
  first.focus?.();
}

/** @param {Choice[]} choices @returns {Field} */
function choiceField(choices) {
  if (!choices.length) return { node: null, value: () => null };
  const group = uniqueId("choice");
  const wrong = el("p.m-wrong", { id: `${group}-wrong` });
  const inputs = choices.map((choice) => el("input", { type: "radio", name: group, value: choice.value }));
  const rows = choices.map(({ title, help }, i) =>
    el("label.m-choice", inputs[i], el("span", el("strong", title), el("span.m-help", help))),
  );
  const node = el("fieldset.m-choices", el("legend", "What should happen?"), rows, wrong);
  const value = () => inputs.find((input) => input.checked)?.value ?? null;
  return {
    node,
    value,
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0]).focus(),
    check: () => mark(node, wrong, value() ? "" : "Choose what should happen."),
  };
}

/** @returns {Field} */
function amountField() {
  const id = uniqueId("amount");
  const wrong = el("p.m-wrong", { id: `${id}-wrong` });
  const input = el("input", { id, type: "number", min: "0.01", step: "0.01", inputmode: "decimal" });
  const node = el("div.field", { hidden: true }, el("label", { for: id }, "Amount of the bonus"), input, wrong);
  const value = () => input.valueAsNumber;
  return {
    node,
    value,
    focus: () => input.focus(),
    check: () => mark(input, wrong, value() > 0 ? "" : "Enter an amount above 0."),
  };
}

/** @param {boolean} wanted @param {string[]} reasons @returns {Field} */
function reasonField(wanted, reasons) {
  if (!wanted) return { node: null, value: () => null };
  const id = uniqueId("reason");
  const wrong = el("p.m-wrong", { id: `${id}-wrong` });
  const described = `${id}-help ${id}-wrong`;
  const about = { id, rows: "3", maxlength: "2000", "aria-required": "true", "aria-describedby": described };
  const input = el("textarea", about);
  /** @param {string} text */
  const offer = (text) => {
    const use = () => {
      input.value = text;
      input.focus();
    };
    return el("button.m-chip", { type: "button", onclick: use }, text);
  };
  const node = el(
    "div.field",
    el("label", { for: id }, "Reason"),
    el("p.m-help", { id: `${id}-help` }, "Required. It is kept in the log of decisions, with your name."),
    input,
    wrong,
    reasons.length > 0 &&
      el("div.m-chips", { role: "group", "aria-label": "Use one of these reasons" }, reasons.map(offer)),
  );
  const value = () => input.value.trim();
  return { node, value, focus: () => input.focus(), check: () => mark(input, wrong, value() ? "" : "Enter a reason.") };
}

/**
 * Show what is wrong with a field, or that nothing is; true if something is.
 * @param {HTMLElement} field
 * @param {HTMLElement} place
 * @param {string} message
 */
function mark(field, place, message) {
  place.textContent = message;
  if (message) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  return Boolean(message);
}
