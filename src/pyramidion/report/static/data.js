// @ts-check
// The report's data, and files made of them. All scripts of a report are put into its one file, without their imports.

import { byId } from "../../server/static/shared/dom.js";
import { saveFile, unpack } from "./parcels.js";

/**
 * @typedef {[id: string, label: string, weight: number | null, held: [reference: string, text: string][]]} Unit
 *
 * @typedef {object} Head what every view needs
 * @property {string[]} systems
 * @property {{ id: string, title: string }[]} topics
 * @property {{ method: string, name: string }[]} measures
 * @property {(number | null)[][][]} scores by measure, topic and system
 *
 * @typedef {{ id: string, title: string, description: string, tiers: number, units: Unit[], summaries: Summary[],
 *   references: [name: string, text: string][] }} Topic units are meant by their place in the list
 *
 * @typedef {object} Summary
 * @property {number} system
 * @property {string} own the reference that this summary is itself, or ""
 * @property {(number | null)[]} weights of the units in the other references, if it is one
 * @property {boolean} judged
 * @property {[unit: number, times: number][]} expressed
 * @property {number[]} perhaps units that are perhaps expressed
 * @property {number[]} corrected units whose verdict somebody corrected
 * @property {[unit: number, degree: number][]} degrees of units of which a part of the weight counts
 * @property {[unit: number, yes: number, of: number][]} votes
 * @property {[text: string, units?: number[], outside?: boolean][]} pieces
 * @property {[name: string, value: number][]} annotators
 * @property {number} unmatched
 * @property {string[]} quotes
 */

/** @type {Head} */
export const head = JSON.parse(String(byId("head").textContent));

/** @type {Map<number, Promise<Topic>>} */
const opened = new Map();

/** @param {number} place */
export function openTopic(place) {
  /** @type {Promise<Topic>} */
  const topic = opened.get(place) ?? unpack(`topic-${place}`).then(JSON.parse);
  opened.set(place, topic);
  return topic;
}

// -- downloads -----------------------------------------------------------------------------------------------

const allTopics = () => Promise.all(head.topics.map((_, place) => openTopic(place)));

/** What shows nothing in front of a formula, such as a character of zero width, and what begins one in any width. */
const UNSEEN = /^['\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Z}\u115f\u1160\u2800\u3164\uffa0]*/u;
const FORMULA = /^[=+\-@\u2212]/;

/** @param {string} text */
function isFormula(text) {
  const [unseen] = UNSEEN.exec(text) ?? [""];
  return /[\t\r]/.test(unseen) || FORMULA.test(text.slice(unseen.length).normalize("NFKC"));
}

/** A cell no spreadsheet runs as a formula, quoted where it has to be. @param {unknown} value */
export function csvCell(value) {
  const text = String(value ?? "");
  const safe = typeof value === "string" && isFormula(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * A topic as a summary is compared with it: a summary that is itself a reference has the other references only.
 * @param {Topic} topic
 * @param {Summary} summary
 * @returns {Topic}
 */
export function comparedWith(topic, { own, weights }) {
  if (!own) return topic;
  /** @type {(unit: Unit, at: number) => Unit} */
  const among = ([id, label, , held], at) => [id, label, weights[at], held.filter(([reference]) => reference !== own)];
  return { ...topic, units: topic.units.map(among), tiers: Math.max(...weights.map(Number), 0) };
}

/** Which unit each summary expresses, or perhaps does, and how often, with the votes where several judged. */
async function unitsTable() {
  /** @type {unknown[][]} */
  const rows = [["topic", "system", "unit", "weight", "label", "times", "degree", "yes", "of", "verdict"]];
  /** @type {Topic[]} */
  const topics = await allTopics();
  for (const topic of topics) {
    for (const summary of topic.summaries) {
      const system = head.systems[summary.system];
      const degrees = new Map(summary.degrees);
      const { units } = comparedWith(topic, summary);
      /** @type {(readonly [place: number, times: number, degree: number, verdict: string])[]} */
      const found = [
        ...summary.expressed.map(([at, times]) => /** @type {const} */ ([at, times, 1, "expressed"])),
        ...summary.perhaps.map((at) => /** @type {const} */ ([at, 1, 0, "perhaps"])),
      ];
      for (const [place, times, degree, verdict] of found) {
        const [id, label, weight] = units[place];
        const [, yes, of] = summary.votes.find(([unit]) => unit === place) ?? [];
        rows.push([topic.id, system, id, weight, label, times, degrees.get(place) ?? degree, yes, of, verdict]);
      }
    }
  }
  return rows.map((row) => `${row.map(csvCell).join(",")}\n`).join("");
}

/** @type {Record<string, () => Promise<string>>} */
const FILES = {
  "scores.csv": () => unpack("file-scores.csv"),
  "units.csv": unitsTable,
  "report.json": async () => JSON.stringify({ ...head, topics: await allTopics() }, null, 1),
};

/** @param {string} name */
export async function download(name) {
  saveFile(name, await FILES[name](), name.endsWith(".csv") ? "text/csv" : "application/json");
}
