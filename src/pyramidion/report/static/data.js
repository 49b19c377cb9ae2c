// @ts-check
// The report's data, and files made of them. All scripts of a report are put into its one file, without their imports.

import { byId, el } from "../../server/static/shared/dom.js";
import { saveFile, unpack } from "./parcels.js";

/**
 * @typedef {[id: string, label: string, weight: number | null, held: [reference: string, text: string][]]} Unit
 *
 * @typedef {object} Head what every view needs
 * @property {string[]} systems
 * @property {{ method: string, name: string, title: string }[]} measures
 * @property {string} [folder] where the pages of topics are, seen from this one; none if this file holds everything
 * @property {string} [start] the first page, seen from a topic's
 * @property {string} [page] the name of a topic's page; only there, as are its neighbours
 * @property {Place | null} [before]
 * @property {Place | null} [after]
 *
 * @typedef {{ id: string, page?: string }} Place a topic, and its page if it has one of its own
 *
 * @typedef {object} Overview
 * @property {TopicRow[]} topics
 * @property {(number | null)[][]} scores by the main measure, by topic and system
 * @property {{ label: string, low: number, high: number, systems: [system: number, mean: number | null][],
 *   topics: number[] } | null} map of systems and topics that have scores
 *
 * @typedef {Place & { title: string, units: number, tiers: [weight: number, shares: number[]][], mean: number | null,
 *   best: number | null, alpha: number | null }} TopicRow
 *
 * @typedef {Place & { title: string, description: string, tiers: number, units: Unit[], summaries: Summary[],
 *   scores: (number | null)[][], references: [name: string, text: string][] }} Topic units are meant by their place in
 *   the list, systems of scores by theirs
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

/**
 * Where a view is: in this page, or in that of its topic.
 * @param {Place} topic @param {string} kind @param {...string} system
 */
export function address({ id, page }, kind, ...system) {
  const fragment = `#${[kind, id, ...system].map(encodeURIComponent).join("/")}`;
  if (!page || page === head.page) return fragment;
  return `${head.folder}${page}${kind === "topic" ? "" : fragment}`;
}

/** @param {number | null | undefined} value */
export const shown = (value) => value?.toFixed(3) ?? "–";

/**
 * A name that may go on in the next line after _ and -, and within a part that is long without them.
 * @param {string} name
 */
export function breakable(name) {
  const parts = name.match(/[^_-]*[_-]+|[^_-]+/g) ?? [];
  const pieces = parts.flatMap((part) => part.match(/[!-\u024f]{1,14}|[^!-\u024f]+/g) ?? []);
  return pieces.map((piece, at) => (at ? [el("wbr"), piece] : piece));
}

/** The colour of a value, from 0 to 9. @param {number} value @param {number} [low] @param {number} [high] */
export const heatStep = (value, low = 0, high = 1) =>
  Math.max(Math.min(Math.floor((10 * (value - low)) / (high - low || 1)), 9), 0);

/** @type {Promise<Overview> | undefined} */
let held;

export function openOverview() {
  held ??= unpack("parcel-overview").then(JSON.parse);
  return held;
}

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

/** The names, the scores by measure, topic and system, and every topic. */
async function everything() {
  const places = (await openOverview()).topics.keys();
  const topics = await Promise.all([...places].map(openTopic));
  const scores = head.measures.map((_, at) => topics.map((topic) => topic.scores[at]));
  return JSON.stringify({ ...head, scores, topics }, null, 1);
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

/** @type {Record<string, () => Promise<string>>} */
const FILES = {
  "scores.csv": () => unpack("file-scores.csv"),
  "units.csv": () => unpack("file-units.csv"),
  "report.json": everything,
};

/** @param {string} name */
export async function download(name) {
  saveFile(name, await FILES[name](), name.endsWith(".csv") ? "text/csv" : "application/json");
}
