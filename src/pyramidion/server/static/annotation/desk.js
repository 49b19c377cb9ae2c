// @ts-check
// The desk: what there is to annotate, what has been begun, two to put side by side.

import { get, path, post } from "../shared/api.js";
import { openForm } from "../shared/dialog.js";
import { button, byId, el, name, put, setText, uniqueId } from "../shared/dom.js";
import { count, duration, NONE, plural, when } from "../shared/format.js";
import { errorBox } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { matchesSearch } from "./finder.js";

/** @import { Field } from "../shared/dialog.js" */
/** @import { Column } from "../shared/table.js" */
/**
 * @typedef {{ name: string, role: string, may_edit: boolean }} Me
 * @typedef {{ id: string, title: string, references: string[], systems: string[], pyramids: string[],
 *   judges?: string[] }} Topic
 * @typedef {{ me: Me, blind?: boolean, annotations: Row[], topics: Topic[] }} Desk what /api/annotate says
 *
 * @typedef {{ id: number, name: string, kind: string, topic: string, system: string, owner: string, shared: boolean,
 *   pyramid: string, pyramid_id: number | null }} Row an annotation
 */

const BLIND_EXPERT =
  "This study is annotated blind: summaries have neutral names, and you see only your own annotations.";
const BLIND_OTHERS =
  "Experts annotate blind: they see neutral names instead of systems, and only their own annotations. You see everything; take care what you tell them.";

/** From so many topics on there is a search field for them. */
const MANY = 10;

/** The annotations to put side by side. @type {Set<number>} */
const ticked = new Set();

export async function openDesk() {
  try {
    /** @type {Desk} */
    const desk = await get("/api/annotate");
    if (desk.blind) put(byId("notices"), el("p.notice", isBlind(desk) ? BLIND_EXPERT : BLIND_OTHERS));
    showBegun(desk);
    showTopics(desk);
  } catch (error) {
    put(byId("notices"), errorBox(error, "The desk cannot be shown"));
  }
}

/** Whether whoever looks is blind. @param {{ me: Me, blind?: boolean }} desk */
const isBlind = ({ me, blind }) => Boolean(blind) && me.role === "expert";

// -- what has been begun -------------------------------------------------------------------------------------

/** @param {Desk} desk */
function showBegun({ annotations, me }) {
  const compare = button("Put two side by side", () => {
    const [first, second] = [...ticked];
    if (compare.getAttribute("aria-disabled") === "true") return;
    location.assign(path`/annotate/compare?first=${first}&second=${second}`);
  });
  const help = el("span.m-help", { role: "status" });
  const update = () => {
    const problem = whyNot(annotations.filter(({ id }) => ticked.has(id)));
    compare.setAttribute("aria-disabled", String(problem !== ""));
    help.textContent = problem;
  };
  const table = new DataTable({
    caption: "Annotations",
    noun: "annotation",
    key: (row) => row.id,
    sort: { by: "Last change", direction: "descending" },
    filter: (row) => `${row.name} ${row.topic} ${row.system} ${row.owner}`,
    columns: columns(me, update),
    empty: [el("p", el("strong", "No annotations yet.")), el("p", "Begin with the pyramid of a topic, below.")],
  });
  table.update(annotations);
  put(byId("begun"), table.node, annotations.length > 1 && el("div.actions.a-compare-line", compare, help));
  update();
}

/** @param {Me} me @param {() => void} update @returns {Column[]} */
function columns(me, update) {
  /** @param {Row} row */
  const tick = (row) => {
    const label = `Compare ${row.name}, ${row.topic} ${row.system}`;
    const box = el("input", { type: "checkbox", "aria-label": label, checked: ticked.has(row.id) });
    box.addEventListener("change", () => {
      ticked[box.checked ? "add" : "delete"](row.id);
      update();
    });
    return box;
  };
  /** @param {Row} row */
  const tools = ({ id, kind }) => {
    const format = kind === "pyramid" ? "pyr" : "pan";
    return el(
      "span.m-tools",
      el("a", { href: `/api/annotate/${id}/export?format=${format}`, download: true }, `.${format}`),
      el("a", { href: `/annotate/${id}/print` }, "Print"),
    );
  };
  return [
    column("Compare", (row) => row.id, { hideTitle: true, kind: "rank", sortable: false, cell: tick }),
    column("Annotation", (row) => row.name, {
      header: true,
      cell: (row) => el("a", { href: row.url, class: "m-strong" }, name(row.name)),
    }),
    column("Topic", (row) => row.topic, { cell: (row) => name(row.topic) }),
    column("Of", (row) => `${row.kind} ${row.system}`, {
      cell: (row) => (row.kind === "pyramid" ? "pyramid" : name(row.system)),
    }),
    column("Whose", (row) => row.owner, {
      cell: (row) =>
        el("span.a-whose", name(row.owner === me.name ? "you" : row.owner), row.shared && el("span.m-help", "shared")),
    }),
    column("Time at work", (row) => row.seconds, {
      kind: "number",
      cell: (row) => (row.seconds ? duration(60 * Math.max(Math.round(row.seconds / 60), 1)) : NONE),
    }),
    column("Changes", (row) => row.changes, { kind: "number", cell: (row) => count(row.changes) }),
    column("Last change", (row) => row.last, { kind: "when", first: "descending", cell: (row) => when(row.last) }),
    column("Export", () => "", { kind: "tools", sortable: false, cell: tools }),
  ];
}

/** Why these cannot be put side by side; "" if they can. @param {Row[]} chosen */
export function whyNot(chosen) {
  if (chosen.length !== 2) return "Tick two annotations of the same text.";
  const [one, other] = chosen;
  const same = one.kind === other.kind && one.topic === other.topic && one.system === other.system;
  if (!same) return "These two annotations are of different texts.";
  const pyramids = one.pyramid === other.pyramid && one.pyramid_id === other.pyramid_id;
  return one.kind === "peer" && !pyramids ? "These two annotations use different pyramids." : "";
}

// -- topics --------------------------------------------------------------------------------------------------

/** Those with annotations first. @param {Desk} desk */
function showTopics(desk) {
  const begun = new Set(desk.annotations.map(({ topic }) => topic));
  const topics = [...desk.topics].sort((one, other) => Number(begun.has(other.id)) - Number(begun.has(one.id)));
  const cards = topics.map((topic) => topicCard(topic, desk));
  put(byId("topics"), cards.length ? cards : el("p.m-empty", "The study has no topics yet: import texts first."));
  if (topics.length < MANY) return;
  const about = { type: "search", placeholder: "Search topics", autocomplete: "off" };
  const input = el("input.m-filter", { ...about, "aria-label": "Search topics" });
  const found = el("span.m-help", { role: "status" });
  input.addEventListener("input", () => {
    const search = input.value.trim();
    topics.forEach(({ id, title }, i) => {
      cards[i].hidden = search !== "" && !matchesSearch(`${id} ${title}`, search);
    });
    const left = cards.filter((card) => !card.hidden).length;
    setText(found, !search ? "" : left ? `${left} of ${topics.length} topics` : "No topic has these words.");
  });
  put(byId("topics-search"), el("div.m-toolbar", input, found));
}

/** @param {Topic} topic @param {Desk} desk */
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
  const pyramid = button("Begin a pyramid …", () => beginPyramid(topic, desk), "small");
  const summary = button("Annotate a summary …", () => beginPeer(topic, desk, pyramids), "small");
  pyramid.disabled = !topic.references.length;
  summary.disabled = noPyramid || !topic.systems.length;
  return el(
    "section.card.a-topic",
    { "aria-label": topic.id },
    el("h3", name(topic.title || topic.id)),
    el("p.m-help", el("bdi", topic.id), ` · ${facts.filter(Boolean).join(" · ")}`),
    desk.me.may_edit && el("div.actions", pyramid, summary),
  );
}

// -- beginning an annotation: empty, from what the study has, or from a file ---------------------------------

/** @param {Topic} topic @param {Desk} desk */
function beginPyramid(topic, desk) {
  const start = choice("Begin with", [
    ["", "nothing"],
    ...topic.pyramids.map((each) => [each, `the pyramid “${each}”`]),
  ]);
  const form = { title: `A pyramid of ${topic.id}`, fields: [start], file: fileField(".pyr") };
  begin(topic, desk, form, () => ({ kind: "pyramid", system: "", start: start.value() }));
}

/** @param {Topic} topic @param {Desk} desk @param {Row[]} pyramids that are being annotated */
function beginPeer(topic, desk, pyramids) {
  const options = [
    ...pyramids.map(({ id, name, owner }) => ({ value: id, shown: `“${name}” of ${owner}, being annotated` })),
    ...topic.pyramids.map((each) => ({ value: each, shown: `“${each}” of the study` })),
  ];
  const judges = (topic.judges ?? []).map((each) => [each, `what ${each} found`]);
  const system = choice(
    "Summary",
    topic.systems.map((each) => [each, each]),
  );
  const pyramid = choice(
    "Pyramid",
    options.map(({ shown }, i) => [String(i), shown]),
  );
  const start = choice("Begin with", [["", "nothing"], ...judges]);
  const form = { title: `A summary of ${topic.id}`, fields: [system, pyramid, start], file: fileField(".pan") };
  begin(topic, desk, form, () => ({
    kind: "peer",
    system: system.value(),
    pyramid: options[Number(pyramid.value())].value,
    start: start.value(),
  }));
}

/**
 * @param {Topic} topic
 * @param {Desk} desk
 * @param {{ title: string, fields: Field[], file: Field }} form
 * @param {() => { kind: string, system: string, [more: string]: any }} about what is annotated, what it begins with
 */
function begin(topic, desk, { title, fields, file }, about) {
  const named = nameField(desk.me, () => {
    const { kind, system } = about();
    const same = desk.annotations.filter((a) => a.topic === topic.id && a.kind === kind && a.system === system);
    return new Set(same.map((each) => each.name));
  });
  for (const { node } of fields) node?.addEventListener("change", () => named.offer());
  const shared = sharedField(isBlind(desk));
  const run = async () => {
    const body = { ...about(), topic: topic.id, name: named.value(), shared: shared.value() };
    const [made, given] = [await post("/api/annotate", body), file.value()];
    if (given) await post(path`/api/annotate/${made.id}/import`, { file_name: given.name, text: await given.text() });
    location.assign(made.url);
  };
  const nodes = [named, ...fields, file, shared].map((field) => field.node);
  openForm({ title, confirm: "Begin", fields: nodes, run });
  named.focus?.();
}

/**
 * The name offered is one's own, for every summary the same: it becomes the judge that scores are by. Only a further
 * annotation of the same text gets a number.
 * @param {Me} me
 * @param {() => Set<string>} taken the names of the annotations of the text that is chosen now
 * @returns {Field & { offer: () => void }}
 */
function nameField(me, taken) {
  const id = uniqueId("begin");
  const input = el("input", { id, type: "text", maxlength: "100", required: true });
  let offered = "";
  const offer = () => {
    if (input.value !== offered) return; // somebody has written a name
    const names = taken();
    offered = me.name;
    for (let next = 2; names.has(offered); next += 1) offered = `${me.name} ${next}`;
    input.value = offered;
  };
  offer();
  const help = el("p.m-help", "Scores and exports show this name as the judge. Keep one name for all your summaries.");
  const node = el("div.field", el("label", { for: id }, "Name of the annotation"), input, help);
  return { node, offer, value: () => input.value.trim(), focus: () => input.select() };
}

/** @param {boolean} hidden @returns {Field} */
function sharedField(hidden) {
  const input = el("input", { type: "checkbox" });
  const help = el("span", "Shared: other experts may change it too, at the same time");
  return { node: el("label.choice", { hidden }, input, help), value: () => input.checked };
}

/** @param {string} title @param {string[][]} options values and what is shown for them @returns {Field} */
function choice(title, options) {
  const id = uniqueId("begin");
  const select = el("select", { id }, ...options.map(([value, shown]) => el("option", { value }, shown)));
  return { node: el("div.field", el("label", { for: id }, title), select), value: () => select.value };
}

/** @param {string} kind @returns {Field} */
function fileField(kind) {
  const id = uniqueId("begin");
  const input = el("input", { id, type: "file", accept: kind });
  const label = el("label", { for: id }, `Or with a ${kind} file`);
  return { node: el("div.field", label, input), value: () => input.files?.[0] ?? null };
}
