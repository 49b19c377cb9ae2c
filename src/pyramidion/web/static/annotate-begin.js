// Beginning an annotation: a pyramid, or what a summary has of one; empty, from what the study has, or from a file.

import { errorBox, post } from "./manager-api.js";
import { busy, el, put, uniqueId } from "./manager-dom.js";
import { openDialog } from "./manager-dialog.js";

export function beginPyramid(topic, { me, annotations }) {
  const start = choice("Begin with", [["", "nothing"], ...topic.pyramids.map((each) => [each, `the pyramid “${each}”`])]);
  const file = fileField(".pyr");
  form(`A pyramid of ${topic.id}`, [nameField(me, annotations, topic), start, file, sharedField()], (values) => ({
    body: { kind: "pyramid", topic: topic.id, name: values.name, shared: values.shared, start: start.value() },
    file: file.value(),
  }));
}

export function beginPeer(topic, { me, annotations }, pyramids) {
  const system = choice("Summary", topic.systems.map((each) => [each, each]));
  const pyramid = choice("Pyramid", [
    ...pyramids.map(({ id, name, owner }) => [`id ${id}`, `“${name}” of ${owner}, being annotated`]),
    ...topic.pyramids.map((each) => [`name ${each}`, `“${each}” of the study`]),
  ]);
  const judges = (topic.judges ?? []).map((each) => [each, `what ${each} found`]);
  const start = choice("Begin with", [["", "nothing"], ...judges]);
  const file = fileField(".pan");
  form(`A summary of ${topic.id}`, [nameField(me, annotations, topic), system, pyramid, start, file, sharedField()], (values) => {
    const [way, ...rest] = pyramid.value().split(" ");
    const chosen = way === "id" ? Number(rest[0]) : rest.join(" ");
    const about = { kind: "peer", topic: topic.id, system: system.value(), pyramid: chosen };
    return { body: { ...about, name: values.name, shared: values.shared, start: start.value() }, file: file.value() };
  });
}

function form(title, fields, values) {
  const problem = el("div");
  const submit = el("button", { type: "submit", class: "button primary" }, "Begin");
  const cancel = el("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Cancel");
  const node = el(
    "form",
    { class: "m-dialog-form", novalidate: true },
    el(
      "div",
      { class: "m-dialog-body" },
      fields.map((field) => field.node),
      problem,
    ),
    el("footer", { class: "m-dialog-foot" }, cancel, submit),
  );
  const dialog = openDialog({ title }, node);
  fields[0].focus();
  const send = async () => {
    put(problem);
    const named = Object.fromEntries(fields.filter((field) => field.name).map((field) => [field.name, field.value()]));
    const { body, file } = values(named);
    try {
      const made = await post("/api/annotate", body);
      if (file) await post(`/api/annotate/${made.id}/import`, { file_name: file.name, text: await file.text() });
      location.assign(made.url);
    } catch (error) {
      put(problem, errorBox(error));
    }
  };
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(submit, send);
  });
}

/** The name offered is one's own, with a number where one has used it for this topic already. */
function nameField(me, annotations, topic) {
  const id = uniqueId("begin");
  const taken = new Set(annotations.filter((each) => each.topic === topic.id).map((each) => each.name));
  let value = me.name;
  for (let next = 2; taken.has(value); next += 1) value = `${me.name} ${next}`;
  const input = el("input", { id, type: "text", maxlength: "100", value, required: true });
  const help = el("p", { class: "m-help" }, "Scores and exports call it so.");
  const node = el("div", { class: "field" }, el("label", { for: id }, "Name of the annotation"), input, help);
  return { node, name: "name", value: () => input.value.trim(), focus: () => input.select() };
}

function sharedField() {
  const input = el("input", { type: "checkbox" });
  const help = el("span", {}, "Shared: other experts may change it too, at the same time");
  return { node: el("label", { class: "choice" }, input, help), name: "shared", value: () => input.checked };
}

function choice(title, options) {
  const id = uniqueId("begin");
  const select = el(
    "select",
    { id },
    options.map(([value, shown]) => el("option", { value }, shown)),
  );
  return { node: el("div", { class: "field" }, el("label", { for: id }, title), select), value: () => select.value };
}

function fileField(kind) {
  const id = uniqueId("begin");
  const input = el("input", { id, type: "file", accept: kind });
  const label = el("label", { for: id }, `Or with a ${kind} file`);
  return { node: el("div", { class: "field" }, label, input), value: () => input.files[0] ?? null };
}
