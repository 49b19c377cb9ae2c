// The desk: what there is to annotate, what has been begun, two to put side by side.

import { errorBox, get } from "./manager-api.js";
import { byId, count, el, name, plural, put, when } from "./manager-dom.js";
import { DataTable } from "./manager-table.js";
import { beginPeer, beginPyramid } from "./annotate-begin.js";

const ticked = new Set();

export async function openDesk() {
  try {
    const desk = await get("/api/annotate");
    showBegun(desk);
    put(
      byId("topics"),
      desk.topics.length
        ? desk.topics.map((topic) => topicCard(topic, desk))
        : el("p", { class: "m-empty" }, "The study has no topics yet: import texts first."),
    );
  } catch (error) {
    put(byId("notices"), errorBox(error, "The desk cannot be shown"));
  }
}

// -- what has been begun -------------------------------------------------------------------------------------

function showBegun({ annotations, me }) {
  const compare = el("button", { type: "button", class: "button", "aria-disabled": "true" }, "Put two side by side");
  const help = el("span", { class: "m-help", role: "status" });
  const update = () => {
    const problem = whyNot(annotations.filter(({ id }) => ticked.has(id)));
    compare.setAttribute("aria-disabled", String(problem !== ""));
    help.textContent = problem;
  };
  compare.addEventListener("click", () => {
    if (compare.getAttribute("aria-disabled") === "true") return;
    const [first, second] = [...ticked];
    location.assign(`/annotate/compare?first=${first}&second=${second}`);
  });
  const table = new DataTable({
    caption: "Annotations",
    noun: "annotation",
    key: (row) => row.id,
    sort: { by: "last", direction: "descending" },
    filter: (row) => `${row.name} ${row.topic} ${row.system} ${row.owner}`,
    columns: columns(me, update),
    empty: [el("p", {}, el("strong", {}, "Nothing begun yet.")), el("p", {}, "Begin with the pyramid of a topic, below.")],
  });
  table.update(annotations);
  put(byId("begun"), table.node, annotations.length > 1 && el("div", { class: "actions a-compare-line" }, compare, help));
  update();
}

function columns(me, update) {
  const tick = (row) => {
    const box = el("input", { type: "checkbox", "aria-label": `Compare ${row.name}, ${row.topic} ${row.system}` });
    box.checked = ticked.has(row.id);
    box.addEventListener("change", () => {
      ticked[box.checked ? "add" : "delete"](row.id);
      update();
    });
    return box;
  };
  const tools = ({ id, kind }) => {
    const format = kind === "pyramid" ? "pyr" : "pan";
    return el(
      "span",
      { class: "m-tools" },
      el("a", { href: `/api/annotate/${id}/export?format=${format}`, download: true }, `.${format}`),
      el("a", { href: `/annotate/${id}/print` }, "Print"),
    );
  };
  return [
    { id: "tick", title: "Compare", hideTitle: true, kind: "rank", sortable: false, value: (row) => row.id, cell: tick },
    {
      id: "name",
      title: "Annotation",
      header: true,
      value: (row) => row.name,
      cell: (row) => el("a", { href: row.url, class: "m-strong" }, name(row.name)),
    },
    { id: "topic", title: "Topic", value: (row) => row.topic, cell: (row) => name(row.topic) },
    {
      id: "what",
      title: "Of",
      value: (row) => `${row.kind} ${row.system}`,
      cell: (row) => (row.kind === "pyramid" ? "pyramid" : name(row.system)),
    },
    {
      id: "owner",
      title: "Whose",
      value: (row) => row.owner,
      cell: (row) => el("span", { class: "a-whose" }, name(row.owner === me.name ? "you" : row.owner), row.shared && el("span", { class: "m-help" }, "shared")),
    },
    { id: "changes", title: "Changes", kind: "number", value: (row) => row.changes, cell: (row) => count(row.changes) },
    { id: "last", title: "Last change", kind: "when", first: "descending", value: (row) => row.last, cell: (row) => when(row.last) },
    { id: "tools", title: "Export", kind: "tools", sortable: false, value: () => "", cell: tools },
  ];
}

/** Why these cannot be put side by side; nothing if they can. */
function whyNot(chosen) {
  if (chosen.length !== 2) return "Tick two annotations of the same text.";
  const [one, other] = chosen;
  const same = ["kind", "topic", "system"].every((field) => one[field] === other[field]);
  if (!same) return "These two are not of the same text.";
  const pyramids = one.pyramid === other.pyramid && one.pyramid_id === other.pyramid_id;
  return one.kind === "peer" && !pyramids ? "These two use different pyramids." : "";
}

// -- topics --------------------------------------------------------------------------------------------------

function topicCard(topic, desk) {
  const pyramids = desk.annotations.filter((each) => each.kind === "pyramid" && each.topic === topic.id);
  const begun = desk.annotations.filter((each) => each.topic === topic.id).length;
  const noPyramid = !topic.pyramids.length && !pyramids.length;
  const facts = [
    plural(topic.references.length, "reference"),
    plural(topic.systems.length, "summary", "summaries"),
    plural(topic.pyramids.length, "pyramid"),
    begun && plural(begun, "annotation"),
  ];
  const button = (title, run, off) =>
    el("button", { type: "button", class: "button small", onclick: run, disabled: off }, title);
  return el(
    "section",
    { class: "card a-topic", "aria-label": topic.id },
    el("h3", {}, name(topic.title || topic.id)),
    el("p", { class: "m-help" }, el("bdi", {}, topic.id), ` · ${facts.filter(Boolean).join(" · ")}`),
    desk.me.may_edit &&
      el(
        "div",
        { class: "actions" },
        button("Begin a pyramid …", () => beginPyramid(topic, desk), !topic.references.length),
        button("Annotate a summary …", () => beginPeer(topic, desk, pyramids), noPyramid || !topic.systems.length),
      ),
  );
}
