// @ts-check
// Finding units: search, filters, and choosing one for something that needs another unit (merging, moving); and which
// units the words picked are likely to be about.

import { byId, el, put, setText } from "../shared/dom.js";

/** @import { Unit } from "./commands.js" */
/** @import { Filter, Tiers } from "./tiers.js" */

/** @param {string} text */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * Whether a text has all the words that are searched for, whatever their accents and capitals.
 * @param {string} text
 * @param {string} search
 */
export function matchesSearch(text, search) {
  const searched = plain(text);
  return plain(search)
    .split(/\s+/)
    .every((term) => searched.includes(term));
}

/**
 * @typedef {object} FinderOptions
 * @property {Tiers} tiers
 * @property {Filter[]} filters
 * @property {(unit: Unit) => string} words what is searched beside label, comment and name
 * @property {(id: string) => void} onEnter Enter in the search field, with the first unit shown
 * @property {() => void} leave
 */

export class Finder {
  /** @type {((id: string | null) => void) | null} */
  #asked = null;

  /** @param {FinderOptions} options */
  constructor({ tiers, filters, words, onEnter, leave }) {
    this.tiers = tiers;
    this.filters = filters;
    this.words = words;
    this.search = /** @type {HTMLInputElement} */ (byId("search"));
    this.select = /** @type {HTMLSelectElement} */ (byId("filter"));
    put(this.select, ...filters.map(({ value, title }) => el("option", { value }, title)));
    this.search.addEventListener("input", () => this.apply());
    this.select.addEventListener("change", () => this.apply());
    this.search.addEventListener("keydown", (event) => {
      const [first] = this.tiers.ids;
      if (event.key === "Enter" && first !== undefined) onEnter(first);
      else if (event.key === "ArrowDown") this.tiers.focus(first);
      else if (event.key === "Escape") {
        this.clear();
        leave();
      } else return;
      event.preventDefault();
    });
    byId("ask-cancel").addEventListener("click", () => this.answer(null));
  }

  focus() {
    this.search.focus();
    this.search.select();
  }

  clear() {
    if (!this.search.value) return;
    this.search.value = "";
    this.apply();
  }

  apply() {
    const search = this.search.value.trim();
    const { test } = this.filters.find(({ value }) => value === this.select.value) ?? this.filters[0];
    /** @param {Unit} unit */
    const text = (unit) => `${unit.label} ${unit.comment} ${unit.id} ${this.words(unit)}`;
    const count = this.tiers.filter((unit) => test(unit) && (!search || matchesSearch(text(unit), search)));
    const all = !search && this.select.value === this.filters[0].value;
    setText(byId("found"), all ? "" : `${count} shown`);
    this.tiers.say(count || all ? "" : search ? "No unit has these words." : "No units to show.");
  }

  // -- asking for a unit ---------------------------------------------------------------------------------------

  get asking() {
    return this.#asked !== null;
  }

  /**
   * Let the annotator choose a unit, by mouse or keyboard: its name, or null where they think better of it.
   * @param {string} question
   * @returns {Promise<string | null>}
   */
  ask(question) {
    this.answer(null);
    setText(byId("ask-text"), question);
    byId("ask").hidden = false;
    this.focus();
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  /** @param {string | null} id */
  answer(id) {
    const resolve = this.#asked;
    if (!resolve) return;
    this.#asked = null;
    byId("ask").hidden = true;
    this.clear();
    resolve(id);
  }
}

// -- likely units --------------------------------------------------------------------------------------------

const MOST = 3;
const LEAST = 0.1;
/** The first letters of a word stand for all its forms, which is enough to rank by. */
const STEM = 5;

/** @param {string} text */
const stems = (text) => new Set((plain(text).match(/\p{N}+|\p{L}{3,}/gu) ?? []).map((word) => word.slice(0, STEM)));

/**
 * The units that have most in common with some words, at most three, the best first: by Dice with the label or the one
 * contributor that is most alike, where words that many units have count little. On the bundled example the right unit
 * is the first for 86% of what the expert matched, and among the three for 92%.
 * @param {string} words
 * @param {Unit[]} units
 * @param {(unit: Unit) => string[]} sayings the ways in which a unit is said, besides its label
 */
export function likelyUnits(words, units, sayings) {
  const asked = stems(words);
  const ways = units.map((unit) => [unit.label, ...sayings(unit)].map(stems));
  /** @type {Map<string, number>} */
  const spread = new Map();
  for (const said of ways)
    for (const stem of new Set(said.flatMap((way) => [...way]))) spread.set(stem, (spread.get(stem) ?? 0) + 1);
  /** @param {Iterable<string>} some */
  const weight = (some) => {
    let sum = 0;
    for (const stem of some) sum += Math.log((units.length + 1) / (spread.get(stem) ?? 1));
    return sum;
  };
  const whole = weight(asked);
  /** @param {Set<string>} way */
  const dice = (way) => (2 * weight([...asked].filter((stem) => way.has(stem)))) / (whole + weight(way) || 1);
  const ranked = units.map((unit, i) => ({ unit, score: Math.max(...ways[i].map(dice)) }));
  const likely = ranked.filter(({ score }) => score >= LEAST).sort((one, other) => other.score - one.score);
  return likely.slice(0, MOST).map(({ unit }) => unit);
}
