// Adjudication: the commands that make a third annotation say what one of two says about a unit.

import { sameSpans } from "./annotate-spans.js";

/**
 * The unit of the third that a row is about: the one it has from the side it began with, or, where that is gone or
 * never was, a later one with the words of either side. `known`: the names of all units of the side it began with.
 */
export function thirdUnit(row, units, { start, known }) {
  const kept = units.find((unit) => unit.id === row[start]?.id);
  if (kept) return kept;
  const sides = [row.first, row.second].filter(Boolean);
  return units.find((unit) => !known.has(unit.id) && sides.some((side) => sameContributors(unit, side))) ?? null;
}

export function sameContributors(one, other) {
  return (
    one.contributors.length === other.contributors.length &&
    one.contributors.every(({ reference, spans }) => {
      const found = other.contributors.find((each) => each.reference === reference);
      return found && sameSpans(found.spans, spans);
    })
  );
}

/** Which side's unit the third has: "first", "second", "both", "none" where it has none, "other" where it is changed. */
export function sideOfUnit(row, units, origin) {
  const mine = thirdUnit(row, units, origin);
  const agrees = (unit) => (unit && mine ? sameContributors(unit, mine) && unit.label === mine.label : !unit && !mine);
  return sideOf(agrees(row.first), agrees(row.second));
}

export function sideOfMatches(row, peer) {
  const mine = mentions(row.unit, peer);
  const agrees = (theirs) =>
    mine.length === theirs.length && theirs.every(({ spans }) => mine.some((each) => sameSpans(each.spans, spans)));
  return sideOf(agrees(row.first), agrees(row.second));
}

function sideOf(first, second) {
  if (first && second) return "both";
  if (first) return "first";
  return second ? "second" : "other";
}

/** The commands after which the third has a unit as `wanted` has it (null: not at all). */
export function takeUnit(wanted, mine) {
  if (!wanted) return mine ? [{ type: "delete_unit", unit: mine.id }] : [];
  const { label, comment, contributors } = wanted;
  if (!mine) return [{ type: "add_unit", label, comment, contributors }];
  const has = (unit, { reference, spans }) =>
    unit.contributors.some((each) => each.reference === reference && sameSpans(each.spans, spans));
  const about = { unit: mine.id };
  return [
    ...mine.contributors
      .filter((each) => !has(wanted, each))
      .map(({ reference }) => ({ type: "remove_contributor", ...about, reference })),
    ...contributors.filter((each) => !has(mine, each)).map((each) => ({ type: "add_contributor", ...about, ...each })),
    ...(label !== mine.label ? [{ type: "rename_unit", ...about, label }] : []),
  ];
}

const mentions = (unit, { matches, marks }) => (unit === "" ? marks : matches.filter((match) => match.unit === unit));

/** The commands after which the third has these matches of a unit, or marks where there is no unit. */
export function takeMatches(unit, wanted, peer) {
  const mine = mentions(unit, peer);
  const among = (items, { spans }) => items.some((each) => sameSpans(each.spans, spans));
  const gone = mine.filter((each) => !among(wanted, each));
  const fresh = wanted.filter((each) => !among(mine, each) && each.spans.length);
  if (unit === "") {
    return [
      ...gone.map(({ id }) => ({ type: "remove_mark", id })),
      ...fresh.map(({ spans }) => ({ type: "mark_unmatched", spans })),
    ];
  }
  return [
    ...gone.map(({ id }) => ({ type: "unmatch", id })),
    ...fresh.map(({ spans }) => ({ type: "match_unit", unit, spans })),
  ];
}
