// @ts-check
// The teacher's page: one summary at a time, its ideas with their verdicts, and corrections that leave as a file.

import { byId, el, focusOn, put, setText } from "../../server/static/shared/dom.js";
import { plural } from "../../server/static/shared/format.js";
import { saveFile, unpack } from "./parcels.js";

/**
 * @typedef {[id: string, label: string, wording: string, label: string]} Unit the last is the label as the study has it
 *
 * @typedef {object} Writer units are meant by their place in the topic's list, verdicts by their place in head.verdicts
 * @property {string} system
 * @property {string} text a fingerprint of the summary
 * @property {boolean} own whether the summary is itself a reference
 * @property {[text: string, units?: number[]][]} pieces
 * @property {[unit: number, verdict: number, group: number][]} verdicts as they were first given
 * @property {[unit: number, verdict: number][]} corrected in earlier rounds
 * @property {[unit: number, words: string][]} words
 *
 * @typedef {{ units: Unit[], writers: Writer[] }} Topic
 *
 * @typedef {object} Head
 * @property {string} key names the state that the page was made from
 * @property {string[]} verdicts
 * @property {string[]} groups
 * @property {[id: string, title: string, systems: string[]][]} topics
 * @property {boolean} correctable
 * @property {Record<string, string>[]} others corrections of summaries that are not on this page
 *
 * @typedef {[topic: number, writer: number, unit: number]} Question
 * @typedef {{ question: Question, before: number | undefined, after: number | undefined }} Step
 */

const EXPRESSED = 0;
const PERHAPS = 1;
const NOT_FOUND = 2;
const FILE = "corrections.jsonl";

/** @type {Head} */
const head = JSON.parse(String(byId("head").textContent));
/** @type {Topic[]} */
const topics = [];
/** @type {Map<string, number>} what the teacher says, by question */
const corrections = new Map();
/** @type {Step[]} */
const steps = [];
let saved = "";
let [topicAt, writerAt, ideaAt] = [0, 0, -1];
let where = "in these pages";

/** @param {Question} question */
const keyOf = (question) => question.join(" ");
/** @param {string} id */
const select = (id) => /** @type {HTMLSelectElement} */ (byId(id));
const writerNow = () => topics[topicAt].writers[writerAt];

// -- corrections ---------------------------------------------------------------------------------------------

/** The first verdict on a unit. @param {Question} question */
function firstVerdict([topic, writer, unit]) {
  return topics[topic].writers[writer].verdicts.find(([at]) => at === unit)?.[1] ?? NOT_FOUND;
}

/** @param {number} unit of the summary that is shown */
const verdictNow = (unit) => {
  /** @type {Question} */
  const question = [topicAt, writerAt, unit];
  return corrections.get(keyOf(question)) ?? firstVerdict(question);
};

/** @param {Question} question @param {number | undefined} verdict undefined is none */
function set(question, verdict) {
  if (verdict === undefined) corrections.delete(keyOf(question));
  else corrections.set(keyOf(question), verdict);
}

/** The file: every correction, in the order of the page, and those of summaries that are not on it. */
function fileText() {
  const lines = [];
  for (const [topic, { units, writers }] of topics.entries()) {
    for (const [writer, { system, text, verdicts }] of writers.entries()) {
      for (const [unit] of verdicts) {
        const verdict = corrections.get(keyOf([topic, writer, unit]));
        if (verdict === undefined) continue;
        const about = { topic: head.topics[topic][0], system, unit: units[unit][0] };
        lines.push({ ...about, verdict: head.verdicts[verdict], label: units[unit][3], text });
      }
    }
  }
  return [...lines, ...head.others].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Correct a verdict; choosing the first one takes the correction back. @param {number} unit @param {number} verdict */
function correct(unit, verdict) {
  /** @type {Question} */
  const question = [topicAt, writerAt, unit];
  const before = corrections.get(keyOf(question));
  const after = verdict === firstVerdict(question) ? undefined : verdict;
  if (after === before) return;
  steps.push({ question, before, after });
  set(question, after);
  changed();
}

function undo() {
  const step = steps.pop();
  if (!step) return;
  set(step.question, step.before);
  const [topic, writer, unit] = step.question;
  if (topic === topicAt && writer === writerAt) ideaAt = ideas().indexOf(unit);
  else open(topic, writer, unit);
  changed();
}

function save() {
  saved = fileText();
  where = "downloaded";
  saveFile(FILE, saved, "application/jsonl");
  keepDraft();
  showState();
}

const isUnsaved = () => fileText() !== saved;

// A browser that crashes loses nothing: the state is also kept here, for this very page. Where that is not allowed, the
// page still warns before it is left.
const draft = `pyramidion corrections ${head.key}`;

function keepDraft() {
  try {
    localStorage.setItem(draft, JSON.stringify({ corrections: [...corrections], saved }));
  } catch {
    // said above
  }
}

/** @returns {boolean} whether corrections were found that are nowhere else */
function readDraft() {
  try {
    const held = JSON.parse(localStorage.getItem(draft) ?? "null");
    /** @type {[string, number][]} */
    const known = held.corrections.filter(
      (/** @type {[unknown, number]} */ [key, verdict]) => isQuestion(key) && [EXPRESSED, NOT_FOUND].includes(verdict),
    );
    corrections.clear();
    for (const [key, verdict] of known) corrections.set(key, verdict);
    if (held.saved !== saved) [saved, where] = [String(held.saved), "downloaded"];
    return isUnsaved();
  } catch {
    // there is no draft, or none that can be used
    return false;
  }
}

/** @param {unknown} key */
function isQuestion(key) {
  const [topic, writer, unit] = String(key).split(" ").map(Number);
  return topics[topic]?.writers[writer]?.verdicts.some(([at]) => at === unit) ?? false;
}

// -- what is shown -------------------------------------------------------------------------------------------

/** The units of the summary that is shown, in the order of the list. */
const ideas = () => writerNow().verdicts.map(([unit]) => unit);

function changed() {
  keepDraft();
  showWriter();
  showState();
}

/** @param {string} [note] */
function showState(note = "") {
  if (!head.correctable) return;
  const number = corrections.size + head.others.length;
  const unsaved = isUnsaved();
  const words = number ? plural(number, "correction") : unsaved ? "All corrections taken back" : "No corrections yet";
  const state = byId("state");
  setText(state, `${words}${unsaved ? ", not downloaded" : number ? `, ${where}` : ""}${note}`);
  state.classList.toggle("unsaved", unsaved);
  /** @type {HTMLButtonElement} */ (byId("undo")).disabled = !steps.length;
}

/** @param {number} group of the most important idea */
const look = (group) => `t${group + 1}`;

/** @param {Writer} writer */
function markedText({ pieces, verdicts }) {
  const groups = new Map(verdicts.map(([unit, , group]) => [unit, group]));
  const { units } = topics[topicAt];
  const parts = pieces.map(([text, here = []]) => {
    const sure = here.filter((unit) => verdictNow(unit) === EXPRESSED);
    const asked = here.filter((unit) => verdictNow(unit) === PERHAPS);
    if (!sure.length && !asked.length) return text;
    const shade = sure.length ? look(Math.min(...sure.map((unit) => groups.get(unit) ?? 2))) : "perhaps";
    const title = [...sure, ...asked].map((unit) => units[unit][1]).join("\n");
    return el("mark", { class: shade, "data-units": here.join(" "), title }, text);
  });
  return el("p.text", { dir: "auto" }, parts);
}

function legend() {
  const nouns = ["a main idea", "an important idea", "a detail"];
  const colours = nouns.map((noun, group) => el("mark", { class: look(group) }, noun));
  return el("p.key", "Words that express:", colours, el("mark.perhaps", "perhaps an idea"));
}

/** @param {number} unit @param {string} label */
function choice(unit, label) {
  /** @type {Question} */
  const question = [topicAt, writerAt, unit];
  const [first, now] = [firstVerdict(question), verdictNow(unit)];
  if (!head.correctable) return el("span.verdict", el("span", { class: `v${now}` }, head.verdicts[now]));
  const buttons = head.verdicts.map((word, verdict) => {
    if (verdict === PERHAPS && first !== PERHAPS) return null; // a person who checks says yes or no
    const about = { type: "button", class: `v${verdict}`, "aria-pressed": String(verdict === now) };
    const says = verdict === first ? "the first verdict" : null;
    const onclick = () => {
      ideaAt = ideas().indexOf(unit);
      correct(unit, verdict);
      /** @type {HTMLElement | null} */ (document.querySelector(`[data-unit="${unit}"] .v${verdict}`))?.focus();
    };
    return el("button", { ...about, title: says, onclick }, word);
  });
  return el("span.verdict", { role: "group", "aria-label": `Verdict: ${label}` }, buttons);
}

/** @param {number} unit @param {number} at */
function ideaLine(unit, at) {
  const [, label, wording] = topics[topicAt].units[unit];
  const words = writerNow().words.find(([place]) => place === unit)?.[1];
  const first = firstVerdict([topicAt, writerAt, unit]);
  const [corrected, now] = [corrections.has(keyOf([topicAt, writerAt, unit])), verdictNow(unit)];
  const by = now === first ? "Confirmed by you." : `Corrected by you. The first verdict: ${head.verdicts[first]}`;
  const said = now !== NOT_FOUND && words;
  const about = { "data-unit": unit, tabindex: -1, class: at === ideaAt ? "current" : null, onclick: () => point(at) };
  return el(
    "li",
    about,
    el("span", { dir: "auto" }, label),
    choice(unit, label),
    el(
      "div.quotes",
      said ? el("span.quote", { dir: "auto" }, `The writer: “${words}”`) : null,
      wording ? el("span.quote", { dir: "auto" }, `A reference: “${wording}”`) : null,
      corrected ? el("span.quote.by", by) : null,
    ),
  );
}

function showWriter() {
  const writer = writerNow();
  const order = ideas();
  const counts = [EXPRESSED, PERHAPS, NOT_FOUND].map(
    (verdict) => order.filter((u) => verdictNow(u) === verdict).length,
  );
  const tally = head.verdicts.map((word, at) => `${counts[at]} ${word}`).join(", ");
  const lists = head.groups.map((name, group) => {
    const mine = writer.verdicts.filter(([, , each]) => each === group).map(([unit]) => unit);
    const title = el("h3", el("span", { class: `swatch ${look(group)}`, "aria-hidden": "true" }), name);
    return mine.length
      ? [
          title,
          el(
            "ul.checks",
            mine.map((unit) => ideaLine(unit, order.indexOf(unit))),
          ),
        ]
      : null;
  });
  const own = "This summary is itself a reference, so it is compared with the others only.";
  put(
    byId("view"),
    el(
      "div.columns",
      el(
        "section.part.sticky",
        el("h2", { dir: "auto" }, writer.system),
        writer.own && el("p.muted.small", own),
        markedText(writer),
        legend(),
      ),
      el("section.part", el("div.verdicts-head", el("h2", "Ideas"), el("span.tally", tally)), lists),
    ),
  );
}

/** Make an idea the current one. @param {number} at */
function point(at) {
  ideaAt = Math.max(0, Math.min(at, ideas().length - 1));
  for (const line of document.querySelectorAll(".checks li")) line.classList.remove("current");
  const unit = ideas()[ideaAt];
  const line = /** @type {HTMLElement | null} */ (document.querySelector(`[data-unit="${unit}"]`));
  line?.classList.add("current");
  for (const mark of document.querySelectorAll("mark.lit")) mark.classList.remove("lit");
  for (const mark of document.querySelectorAll(`mark[data-units~="${unit}"]`)) mark.classList.add("lit");
  return line;
}

/** @param {number} topic @param {number} writer @param {number} [unit] */
function open(topic, writer, unit) {
  if (topic !== topicAt || !select("writer").options.length) fillWriters(topic);
  [topicAt, writerAt] = [topic, writer];
  ideaAt = unit === undefined ? -1 : ideas().indexOf(unit);
  select("topic").selectedIndex = topic;
  select("writer").selectedIndex = writer;
  const [id, , systems] = head.topics[topic];
  history.replaceState(null, "", `#${[id, systems[writer]].map(encodeURIComponent).join("/")}`);
  showWriter();
}

/** @param {number} topic */
function fillWriters(topic) {
  put(
    select("writer"),
    head.topics[topic][2].map((system) => el("option", system)),
  );
}

/** The next or previous summary, of the next topic after the last. @param {number} step */
function go(step) {
  const all = head.topics.flatMap(([, , systems], topic) => systems.map((_, writer) => [topic, writer]));
  const at = all.findIndex(([topic, writer]) => topic === topicAt && writer === writerAt);
  const [topic, writer] = all[(at + step + all.length) % all.length];
  open(topic, writer);
}

/** The summary that the address names, or the first. */
function openAddress() {
  let parts = [""];
  try {
    parts = location.hash.slice(1).split("/").map(decodeURIComponent);
  } catch {
    // a mistyped %
  }
  const named = head.topics.findIndex(([id]) => id === parts[0]);
  const topic = Math.max(0, named);
  open(topic, Math.max(0, head.topics[topic][2].indexOf(parts[1] ?? "")));
}

// -- the keyboard --------------------------------------------------------------------------------------------

/** @type {Record<string, () => void>} */
const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  e: () => decide(EXPRESSED),
  n: () => decide(NOT_FOUND),
  b: () => decide(undefined),
  u: undo,
  "]": () => go(1),
  "[": () => go(-1),
};

/** @param {number} step */
function move(step) {
  const line = point(ideaAt + step);
  if (line) focusOn(line);
}

/** @param {number | undefined} verdict undefined is the first one */
function decide(verdict) {
  const unit = ideas()[ideaAt];
  if (unit === undefined || !head.correctable) return;
  correct(unit, verdict ?? firstVerdict([topicAt, writerAt, unit]));
  const line = point(ideaAt);
  if (line) focusOn(line);
}

document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.matches("select, input, textarea")) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && head.correctable) {
    event.preventDefault();
    undo();
  }
  const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

addEventListener("beforeunload", (event) => {
  if (isUnsaved()) event.preventDefault();
});

async function start() {
  const parcels = await Promise.all(head.topics.map((_, place) => unpack(`topic-${place}`)));
  topics.push(...parcels.map((parcel) => JSON.parse(parcel)));
  for (const [topic, { writers }] of topics.entries()) {
    for (const [writer, { corrected }] of writers.entries()) {
      for (const [unit, verdict] of corrected) set([topic, writer, unit], verdict);
    }
  }
  saved = fileText();
  const restored = head.correctable && readDraft();
  const names = head.topics.map(([id, title]) => el("option", title ? `${id}: ${title}` : id));
  put(select("topic"), names);
  byId("tools").hidden = false;
  select("topic").addEventListener("change", () => open(select("topic").selectedIndex, 0));
  select("writer").addEventListener("change", () => open(topicAt, select("writer").selectedIndex));
  byId("previous").addEventListener("click", () => go(-1));
  byId("next").addEventListener("click", () => go(1));
  if (head.correctable) {
    byId("undo").addEventListener("click", undo);
    byId("save").addEventListener("click", save);
  }
  addEventListener("hashchange", openAddress);
  openAddress();
  showState(restored ? " (found in this browser)" : "");
}

start();
