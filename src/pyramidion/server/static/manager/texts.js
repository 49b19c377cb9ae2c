// @ts-check
// /manage/texts: files, a folder or an archive are looked at first; only then are they added to the study. Nothing is
// kept on the server in between: adding sends the same files again.

import { ApiError, get } from "../shared/api.js";
import { busy, button, byId, el, name, put, setText, written } from "../shared/dom.js";
import { count, plural } from "../shared/format.js";
import { announce, errorBox, noteList, say } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";

/** @import { Problem } from "../shared/api.js" */
/** @typedef {{ name: string, file: File }} Sent */
/** @typedef {{ id: string, title: string, references: number, peers: number, units: number }} Topic */
/** @typedef {{ topic: string, role: string, system: string, text: string }} Text */
/**
 * @typedef {{ refused?: string, format: string, title: string, recognised: string, counts: Record<string, number>,
 *   new: Record<string, number>, topics: Topic[], systems: [string, number][], texts: Text[], judges: string[],
 *   problems: (Problem & { severity: string })[], more_problems: number, errors: number, conflicts: number,
 *   columns: string[], roles: string[], can_add: boolean }} Preview what the server says about files
 */

const ADDRESS = "/api/manage/uploads";
/** @type {[key: string, one: string, many: string][]} */
const FACTS = [
  ["topics", "topic", "topics"],
  ["references", "reference", "references"],
  ["systems", "system", "systems"],
  ["peers", "summary of a system", "summaries of systems"],
  ["units", "unit", "units"],
  ["judgments", "judgment", "judgments"],
];
/** @param {string} words */
const capital = (words) => words[0].toUpperCase() + words.slice(1);
const SHOWN_ROLES = ["summary", "reference", "system", "topic"];

/**
 * Send files as one body: a list of their names and sizes, then their bytes. Blobs are not read into memory.
 * @param {Sent[]} files
 * @param {Record<string, string>} choices
 * @param {(share: number) => void} onprogress
 * @returns {Promise<{ data: any, digest: string }>}
 */
function send(files, choices, onprogress) {
  const list = JSON.stringify(files.map(({ name: path, file }) => ({ name: path, size: file.size })));
  const body = new Blob([list, "\n", ...files.map(({ file }) => file)]);
  const request = new XMLHttpRequest();
  request.open("POST", `${ADDRESS}?${new URLSearchParams(choices)}`);
  request.responseType = "json";
  request.setRequestHeader("X-CSRF-Token", byId("main").dataset.csrf ?? "");
  request.setRequestHeader("Accept", "application/json");
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.onprogress = ({ loaded, total }) => onprogress(total ? loaded / total : 1);
  return new Promise((resolve, reject) => {
    request.onload = () => {
      const { status, response } = request;
      if (status === 200) return resolve({ data: response, digest: request.getResponseHeader("X-Digest") ?? "" });
      const { error, problems = [] } = response ?? {};
      const message = status === 401 ? "You are logged out. Reload the page to log in again." : error;
      reject(new ApiError(message ?? `The server answered with status ${status}.`, { status, problems }));
    };
    const changed =
      "The files could not be sent: the server cannot be reached, or a file was changed or moved since you chose it.";
    request.onerror = () => reject(new ApiError(changed));
    request.send(body);
  });
}

// -- choosing files ------------------------------------------------------------------------------------------

/** @param {FileList | null} list @returns {Sent[]} */
const chosen = (list) => [...(list ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file }));

/** Everything that was dropped, folders with all that is in them. @param {DataTransfer} data @returns {Promise<Sent[]>} */
async function dropped(data) {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return (await Promise.all(entries.map(inside))).flat();
}

/** @param {FileSystemEntry} entry @returns {Promise<Sent[]>} */
async function inside(entry) {
  if (entry.isFile) {
    /** @type {File} */
    const file = await new Promise((resolve, reject) =>
      /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject),
    );
    return [{ name: entry.fullPath.replace(/^\//, ""), file }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {FileSystemEntry[]} */
  const held = [];
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // a hundred at a time
    if (!some.length) break;
    held.push(...some);
  }
  return (await Promise.all(held.map(inside))).flat();
}

// -- the page ------------------------------------------------------------------------------------------------

class Texts {
  /** @type {Sent[]} */
  #files = [];
  #digest = "";
  #turn = 0;

  /** @param {HTMLElement} place @param {{ formats: { name: string, title: string }[], most_bytes: number }} about */
  constructor(place, { formats, most_bytes: most }) {
    this.most = most;
    this.files = el("input", { type: "file", multiple: true, id: "files" });
    this.folder = el("input", { type: "file", webkitdirectory: true, id: "folder" });
    const zone = this.#zone();
    this.chosenLine = el("p", { "aria-live": "polite" });
    this.bar = el("progress", { max: "1", value: "0", hidden: true, "aria-label": "Sent so far" });
    this.format = el(
      "select",
      { id: "layout" },
      el("option", { value: "" }, "Recognise it"),
      formats.map(({ name: value, title }) => el("option", { value }, `${value}: ${title}`)),
    );
    this.judge = el("input", { id: "judge", maxlength: "200", spellcheck: "false" });
    this.lenient = el("input", { type: "checkbox", id: "lenient" });
    this.columns = el("fieldset.m-columns", { hidden: true });
    this.judgeField = el("div.field", { hidden: true });
    this.lenientField = el("div.field.m-field-check", { hidden: true });
    this.options = this.#options();
    this.result = el("div.m-texts");
    put(place, zone, this.chosenLine, this.bar, this.options, this.result);
  }

  #zone() {
    const zone = el(
      "div.m-drop",
      el("p", "Drop files or a folder here, or choose them:"),
      el(
        "div.m-pickers",
        el("div.field", el("label", { for: "files" }, "Files, or one archive (.zip, .tar.gz)"), this.files),
        el("div.field", el("label", { for: "folder" }, "A whole folder"), this.folder),
      ),
      el(
        "p.m-help",
        `At most ${count(Math.floor(this.most / 2 ** 20))} MB in all. Nothing is added before you have seen a preview.`,
      ),
    );
    for (const input of [this.files, this.folder])
      input.addEventListener("change", () => this.#take(chosen(input.files)));
    zone.addEventListener("dragover", (event) => {
      event.preventDefault();
      zone.classList.add("m-over");
    });
    zone.addEventListener("dragleave", () => zone.classList.remove("m-over"));
    zone.addEventListener("drop", async (event) => {
      event.preventDefault();
      zone.classList.remove("m-over");
      if (event.dataTransfer) this.#take(await dropped(event.dataTransfer));
    });
    return zone;
  }

  #options() {
    put(
      this.judgeField,
      el("label", { for: "judge" }, "Name of the judge"),
      this.judge,
      el("p.m-help", "The files have one judge. Two annotators’ files need two names."),
    );
    put(
      this.lenientField,
      el("div.m-check", this.lenient, el("label", { for: "lenient" }, "Leave out what has errors, and add the rest")),
    );
    const node = el(
      "details.m-fold",
      { hidden: true },
      el("summary", "How to read the files"),
      el("div.field.m-field-name", el("label", { for: "layout" }, "Layout"), this.format),
      this.columns,
      this.judgeField,
      this.lenientField,
    );
    node.addEventListener("change", () => this.#look());
    return node;
  }

  /** @param {Sent[]} files */
  #take(files) {
    const seen = files.filter(({ name: path }) => !path.split("/").some((part) => part.startsWith(".")));
    const size = seen.reduce((sum, { file }) => sum + file.size, 0);
    if (!seen.length) return;
    this.#files = seen;
    this.format.value = this.judge.value = "";
    this.lenient.checked = false;
    put(this.columns);
    setText(this.chosenLine, `${plural(seen.length, "file")}, ${count(Math.ceil(size / 1024))} KB`);
    if (size > this.most) {
      const what = `They have more than ${count(Math.floor(this.most / 2 ** 20))} MB in all. Send them in parts, or packed.`;
      return void put(this.result, errorBox(new ApiError(what), "These files are too large"));
    }
    this.#look();
  }

  /** @returns {Record<string, string>} */
  #choices() {
    const named = [...this.columns.querySelectorAll("select")].map((each) => [each.name, each.value]);
    const columns = Object.fromEntries(named.filter(([, value]) => value));
    return {
      format: this.format.value,
      judge: this.judge.value.trim(),
      lenient: String(this.lenient.checked),
      columns: JSON.stringify(columns),
    };
  }

  /** @param {number} share */
  #progress = (share) => {
    this.bar.hidden = share >= 1;
    this.bar.value = share;
  };

  /** Look at the files, and show what they hold. */
  async #look() {
    const turn = ++this.#turn;
    put(this.result, el("p.m-help", "Reading the files …"));
    try {
      const { data, digest } = await send(this.#files, this.#choices(), this.#progress);
      if (turn !== this.#turn) return;
      this.#digest = digest;
      this.#show(data);
    } catch (error) {
      if (turn === this.#turn) put(this.result, errorBox(error, "The files could not be read"));
    } finally {
      this.bar.hidden = true;
    }
  }

  /** @param {Preview} seen */
  #show(seen) {
    this.options.hidden = false;
    this.#offerColumns(seen);
    this.judgeField.hidden = seen.judges?.length !== 1 && !this.judge.value;
    this.lenientField.hidden = !seen.errors && !this.lenient.checked;
    if (seen.refused !== undefined) return this.#refused(seen.refused);
    const heading = el("h2", { tabindex: "-1" }, "Preview");
    const add = button("Add to the study", () => busy(add, () => this.#add()), "primary");
    const fresh = FACTS.reduce((sum, [key]) => sum + (seen.new[key] ?? 0), 0);
    const why = whyNot(seen, this.lenient.checked);
    put(
      this.result,
      heading,
      el("p", el("strong", "Layout: "), el("bdi", seen.recognised || seen.title)),
      el(
        "dl.m-facts",
        FACTS.filter(([key]) => seen.counts[key]).map(([key, , many]) => fact(capital(many), seen, key)),
      ),
      fresh === 0 &&
        !seen.conflicts &&
        el("p.notice", "All of this is in the study already: adding it changes nothing."),
      problems(seen),
      seen.can_add
        ? el("div.actions", add, el("span.m-help", "Nothing is in the study yet."))
        : el("p.notice.bad", el("strong", "This cannot be added. "), why),
      topicTable(seen),
      systems(seen),
      firstTexts(seen.texts),
    );
    heading.focus({ preventScroll: true });
    announce(`Preview: ${plural(seen.counts.topics, "topic")}, ${plural(seen.errors, "error")}`);
  }

  /** @param {string} why */
  #refused(why) {
    this.options.open = true;
    const heading = el("h2", { tabindex: "-1" }, "These files are not understood");
    put(this.result, heading, el("pre.m-refused", { tabindex: "0", role: "region", "aria-label": "Why" }, why));
    heading.focus({ preventScroll: true });
  }

  /** For a table: which column holds what. @param {Preview} seen */
  #offerColumns({ columns, roles }) {
    this.columns.hidden = !columns.length;
    if (!columns.length || this.columns.children.length) return;
    const offered = [...SHOWN_ROLES, ...roles.filter((role) => !SHOWN_ROLES.includes(role))];
    const fields = offered.map((role) => {
      const id = `column-${role}`;
      const options = ["", ...columns].map((value) => el("option", { value }, value || "recognised, or none"));
      return el("div.field", el("label", { for: id }, role), el("select", { id, name: role }, options));
    });
    put(this.columns, el("legend", "Columns"), el("div.m-grid-fields", fields));
  }

  async #add() {
    try {
      const { data } = await send(this.#files, { ...this.#choices(), digest: this.#digest }, this.#progress);
      const done = el("p", { tabindex: "-1" }, el("strong", "Added. "), `${plural(data.added, "new record")}.`);
      const held = FACTS.filter(([key]) => data.counts[key]).map(([key, one, many]) =>
        plural(data.counts[key], one, many),
      );
      const onwards = el("a.button.primary", { href: "/manage#plan" }, "Plan a campaign");
      put(
        this.result,
        el("div.notice.good", done, el("p", `The study now holds ${held.join(", ")}.`), el("div.actions", onwards)),
      );
      setText(this.chosenLine, "");
      this.options.hidden = true;
      this.files.value = this.folder.value = "";
      done.focus();
      say("The texts are in the study.");
    } catch (error) {
      this.result.prepend(errorBox(error, "Nothing was added"));
    }
  }
}

/** @param {Preview} seen @param {boolean} lenient */
function whyNot({ conflicts, errors, counts }, lenient) {
  if (conflicts)
    return "It does not fit what the study holds already; the problems above say where. Change the files, or leave these out.";
  if (errors && !lenient)
    return "Mend the errors in the files, or choose under “How to read the files” to leave out what has errors.";
  return counts.topics ? "There is nothing in it that could be added." : "No texts were found in it.";
}

/** @param {string} label @param {Preview} seen @param {string} key */
function fact(label, seen, key) {
  const [all, fresh] = [seen.counts[key], seen.new[key] ?? 0];
  const note = fresh < all ? el("span.m-help.m-cost-rest", `${count(all - fresh)} already there`) : null;
  return el("div", el("dt", label), el("dd", count(all), note));
}

/** @param {Preview} seen */
function problems({ problems: list, more_problems: more }) {
  const errors = list.filter(({ severity }) => severity === "error");
  const warnings = list.filter(({ severity }) => severity !== "error");
  return el(
    "div",
    noteList(errors, { title: "Errors" }),
    noteList(warnings, { title: "Warnings" }),
    more > 0 && el("p.m-help", `${plural(more, "more problem")} of other kinds.`),
    !list.length && el("p.m-help", "No problems were found."),
  );
}

/** @param {Preview} seen */
function topicTable({ topics, counts }) {
  const table = new DataTable({
    caption: "Topics",
    noun: "topic",
    key: (row) => row.id,
    sort: { by: "Topic", direction: "ascending" },
    page: 10,
    columns: [
      column("Topic", (row) => row.id, {
        header: true,
        cell: (row) => name(row.title ? `${row.id} – ${row.title}` : row.id),
      }),
      column("References", (row) => row.references, { kind: "number" }),
      column("Summaries", (row) => row.peers, { kind: "number" }),
      column("Units", (row) => row.units, { kind: "number" }),
    ],
    empty: el("p", "There are no topics in it."),
  });
  table.update(topics);
  const more = counts.topics - topics.length;
  return el(
    "div",
    el("h3", "Topics"),
    table.node,
    more > 0 && el("p.m-help", `${plural(more, "more topic")} not shown.`),
  );
}

/** @param {Preview} seen */
function systems({ systems: list }) {
  if (!list.length) return null;
  const items = list.map(([system, number]) =>
    el("li", name(system), el("span.m-help", ` ${plural(number, "summary", "summaries")}`)),
  );
  return el("details.m-fold", el("summary", plural(list.length, "system")), el("ul.m-system-list", items));
}

/** @param {string} role @param {string} system @returns {[noun: string, system: string]} */
function whose(role, system) {
  if (role !== "reference") return ["system", system];
  return ["reference", system === "reference" ? "" : system];
}

/** @param {Text[]} texts */
function firstTexts(texts) {
  if (!texts.length) return null;
  const cards = texts.map(({ topic, role, system, text }) => {
    const [noun, of] = whose(role, system);
    const label = [topic, noun, of].filter(Boolean).join(" ");
    return el(
      "article.m-first",
      el("h4", name(topic), ` · ${noun} `, of && name(of)),
      el("div.m-first-text", { tabindex: "0", role: "group", "aria-label": label }, written(text)),
    );
  });
  return el("div", el("h3", "The first texts"), el("div.m-firsts", cards));
}

async function start() {
  const place = byId("texts-panel");
  try {
    new Texts(place, await get(ADDRESS));
  } catch (error) {
    put(place, errorBox(error));
  }
}

start();
