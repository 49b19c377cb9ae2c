// Questions before something is done. The dialog stays open, with the reason, until the server has agreed.

import { errorBox } from "./manager-api.js";
import { busy, el, put, uniqueId } from "./manager-dom.js";

/** An open modal dialog that removes itself when it is closed. The focus goes back to where it was, or near it. */
export function openDialog({ title, wide = false, onClose = null }, ...content) {
  const heading = uniqueId("dialog");
  const opener = document.activeElement;
  const near = opener?.closest("td, dialog, section");
  const cross = [el("span", { "aria-hidden": "true" }, "×"), el("span", { class: "visually-hidden" }, "Close")];
  const close = el("button", { type: "button", class: "m-close" }, cross);
  const dialog = el(
    "dialog",
    { class: wide ? "m-dialog m-dialog-wide" : "m-dialog", "aria-labelledby": heading },
    el("header", { class: "m-dialog-head" }, el("h2", { id: heading, tabindex: "-1" }, title), close),
    ...content,
  );
  close.addEventListener("click", () => dialog.close());
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
 * Ask, then do. `run` gets {reason, amount, action} and may throw: its error is shown and the dialog stays.
 *
 * choices: [{value, title, help, danger, amount}] to pick from; reasons: texts offered for the reason field;
 * reason: false asks for none.
 */
export function ask({ title, intro = [], choices = [], confirm, danger = false, reason = true, reasons = [], run }) {
  const problem = el("div", { class: "m-dialog-problem" });
  const parts = { action: choiceField(choices), amount: amountField(), reason: reasonField(reason, reasons) };
  const submit = el("button", { type: "submit", class: "button primary" }, confirm ?? "Save");
  const cancel = el("button", { type: "button", class: "button" }, "Cancel");
  const fields = [parts.action.node, parts.amount.node, parts.reason.node, problem];
  const form = el(
    "form",
    { class: "m-dialog-form", novalidate: true },
    el("div", { class: "m-dialog-body" }, intro, fields),
    el("footer", { class: "m-dialog-foot" }, cancel, submit),
  );
  const dialog = openDialog({ title }, form);
  const chosen = () => choices.find((choice) => choice.value === parts.action.value());
  const adapt = () => {
    parts.amount.node.hidden = !chosen()?.amount;
    submit.textContent = chosen()?.confirm ?? confirm ?? "Save";
    submit.classList.toggle("danger", Boolean(chosen()?.danger ?? danger));
  };
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("change", adapt);
  adapt();
  const first = choices.length ? parts.action : reason ? parts.reason : danger ? cancel : submit;
  first.focus();
  const send = async () => {
    put(problem);
    try {
      await run({
        action: parts.action.value(),
        reason: parts.reason.value(),
        amount: chosen()?.amount ? parts.amount.value() : null,
      });
      dialog.close();
    } catch (error) {
      put(problem, errorBox(error));
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const invalid = [parts.action, chosen()?.amount && parts.amount, parts.reason].filter((part) => part?.check?.());
    if (invalid.length) return void invalid[0].focus();
    busy(submit, send);
  });
  return dialog;
}

function choiceField(choices) {
  if (!choices.length) return { node: null, value: () => null };
  const group = uniqueId("choice");
  const wrong = el("p", { class: "m-wrong", id: `${group}-wrong` });
  const inputs = choices.map((choice) => el("input", { type: "radio", name: group, value: choice.value }));
  const rows = choices.map((choice, i) =>
    el(
      "label",
      { class: "m-choice" },
      inputs[i],
      el("span", {}, el("strong", {}, choice.title), el("span", { class: "m-help" }, choice.help)),
    ),
  );
  const node = el("fieldset", { class: "m-choices" }, el("legend", {}, "What should happen?"), rows, wrong);
  const value = () => inputs.find((input) => input.checked)?.value ?? null;
  return {
    node,
    value,
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0]).focus(),
    check: () => mark(node, wrong, value() ? "" : "Choose what should happen."),
  };
}

function amountField() {
  const id = uniqueId("amount");
  const wrong = el("p", { class: "m-wrong", id: `${id}-wrong` });
  const input = el("input", { id, type: "number", min: "0.01", step: "0.01", inputmode: "decimal" });
  const node = el(
    "div",
    { class: "field", hidden: true },
    el("label", { for: id }, "Amount of the bonus"),
    input,
    wrong,
  );
  const value = () => input.valueAsNumber;
  return {
    node,
    value,
    focus: () => input.focus(),
    check: () => mark(input, wrong, value() > 0 ? "" : "Enter an amount above 0."),
  };
}

function reasonField(wanted, reasons) {
  if (!wanted) return { node: null, value: () => null };
  const id = uniqueId("reason");
  const wrong = el("p", { class: "m-wrong", id: `${id}-wrong` });
  const input = el("textarea", {
    id,
    rows: "3",
    maxlength: "2000",
    "aria-required": "true",
    "aria-describedby": `${id}-help ${id}-wrong`,
  });
  const offer = (text) => {
    const use = () => {
      input.value = text;
      input.focus();
    };
    return el("button", { type: "button", class: "m-chip", onclick: use }, text);
  };
  const node = el(
    "div",
    { class: "field" },
    el("label", { for: id }, "Reason"),
    el("p", { class: "m-help", id: `${id}-help` }, "Required. It is kept in the log of decisions, with your name."),
    input,
    wrong,
    reasons.length > 0 &&
      el("div", { class: "m-chips", role: "group", "aria-label": "Use one of these reasons" }, reasons.map(offer)),
  );
  const value = () => input.value.trim();
  return {
    node,
    value,
    focus: () => input.focus(),
    check: () => mark(input, wrong, value() ? "" : "Say why. This cannot be empty."),
  };
}

/** Show what is wrong with a field, or that nothing is; true if something is. */
function mark(field, place, message) {
  place.textContent = message;
  if (message) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  return Boolean(message);
}
