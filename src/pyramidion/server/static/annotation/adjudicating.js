// @ts-check
// Adjudication: the commands that make a third annotation say what one of two says about a unit.

import { sameSpans } from "../shared/spans.js";

/** @import { Command, Contributor, Mark, Peer, Unit } from "./commands.js" */
/**
 * @typedef {{ first: Unit | null, second: Unit | null }} UnitRow what two annotations say about a unit
 * @typedef {{ unit: string, first: Mark[], second: Mark[] }} MatchRow
 * @typedef {{ start: "first" | "second", known: Set<string | undefined> }}
 *   Origin the side that the third began with, and its units
 */

/**
 * The unit of the third that a row is about: the one it has from the side it began with, or, where that is gone or
 * never was, a later one with the words of either side.
 * @param {UnitRow} row
 * @param {Unit[]} units
 * @param {Origin} origin
 */
export function thirdUnit(row, units, { start, known }) {
  const kept = units.find((unit) => unit.id === row[start]?.id);
  if (kept) return kept;
  const sides = [row.first, row.second].filter((side) => side !== null);
  return units.find((unit) => !known.has(unit.id) && sides.some((side) => sameContributors(unit, side))) ?? null;
}

/** @param {Unit} unit @param {Contributor} wanted */
const hasContributor = (unit, { reference, spans }) =>
  unit.contributors.some((each) => each.reference === reference && sameSpans(each.spans, spans));

/** @param {Unit} one @param {Unit} other */
const sameContributors = (one, other) =>
  one.contributors.length === other.contributors.length &&
  one.contributors.every((each) => hasContributor(other, each));

/** @param {Unit} one @param {Unit} other */
const sameUnit = (one, other) =>
  sameContributors(one, other) && one.label === other.label && one.comment === other.comment;

/**
 * Which side's unit the third has: "first", "second", "both", or "other" where it is changed.
 * @param {UnitRow} row
 * @param {Unit[]} units
 * @param {Origin} origin
 */
export function sideOfUnit(row, units, origin) {
  const mine = thirdUnit(row, units, origin);
  /** @param {Unit | null} unit */
  const agrees = (unit) => (unit && mine ? sameUnit(unit, mine) : !unit && !mine);
  return sideOf(agrees(row.first), agrees(row.second));
}

/** @param {MatchRow} row @param {Peer} peer */
export function sideOfMatches(row, peer) {
  const mine = mentions(row.unit, peer);
  /** @param {Mark[]} theirs */
  const agrees = (theirs) => mine.length === theirs.length && theirs.every((each) => isAmong(mine, each));
  return sideOf(agrees(row.first), agrees(row.second));
}

/** @param {boolean} first @param {boolean} second */
const sideOf = (first, second) => (first && second ? "both" : first ? "first" : second ? "second" : "other");

/**
 * The commands after which the third has a unit as `wanted` has it (null: not at all).
 * @param {Unit | null} wanted
 * @param {Unit | null} mine
 * @returns {Command[]}
 */
export function takeUnit(wanted, mine) {
  if (!wanted) return mine ? [{ type: "delete_unit", unit: mine.id }] : [];
  const { label, comment, contributors } = wanted;
  if (!mine) return [{ type: "add_unit", label, comment, contributors }];
  const unit = mine.id;
  const gone = mine.contributors.filter((each) => !hasContributor(wanted, each));
  const fresh = contributors.filter((each) => !hasContributor(mine, each));
  return [
    ...gone.map(({ reference }) => ({ type: "remove_contributor", unit, reference })),
    ...fresh.map((each) => ({ type: "add_contributor", unit, ...each })),
    ...(label !== mine.label ? [{ type: "rename_unit", unit, label }] : []),
    ...(comment !== mine.comment ? [{ type: "comment_unit", unit, comment }] : []),
  ];
}

/** @param {string} unit "" for content in no unit @param {Peer} peer @returns {Mark[]} */
const mentions = (unit, { matches, marks }) => (unit === "" ? marks : matches.filter((match) => match.unit === unit));

/** @param {Mark[]} items @param {Mark} wanted */
const isAmong = (items, { spans }) => items.some((each) => sameSpans(each.spans, spans));

/**
 * The commands after which the third has these matches of a unit, or marks where there is no unit.
 * @param {string} unit
 * @param {Mark[]} wanted
 * @param {Peer} peer
 * @returns {Command[]}
 */
export function takeMatches(unit, wanted, peer) {
  const mine = mentions(unit, peer);
  const gone = mine.filter((each) => !isAmong(wanted, each));
  const fresh = wanted.filter((each) => !isAmong(mine, each) && each.spans.length);
  const [removal, addition] = unit === "" ? ["remove_mark", "mark_unmatched"] : ["unmatch", "match_unit"];
  const about = unit === "" ? {} : { unit };
  return [
    ...gone.map(({ id }) => ({ type: removal, id })),
    ...fresh.map(({ spans }) => ({ type: addition, ...about, spans })),
  ];
}
