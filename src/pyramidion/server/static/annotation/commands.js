// @ts-check
// What a command does to a state, as the server does it (pyramidion.annotation), so that the page need not wait
// for the server. A command that it would refuse is refused here at once; what it answers replaces what is made here.
// tests/js/test_parity.py proves that both sides agree.

import { difference, pointCount, sameSpans, union } from "../shared/spans.js";

/** @import { Span } from "../shared/spans.js" */
/**
 * @typedef {{ reference: string, spans: Span[] }} Contributor
 * @typedef {{ id: string, label: string, comment: string, weight: number, contributors: Contributor[] }} Unit
 * @typedef {{ id: string, unit: string, spans: Span[] }} Match
 * @typedef {{ id: string, spans: Span[] }} Mark
 * @typedef {{ matches: Match[], marks: Mark[], lost?: string[] }} Peer
 * @typedef {{ name: string, text: string }} NamedText
 * @typedef {{ type: string } & Record<string, any>} Command
 * @typedef {{ number: number, author: string, says: string, command: Command }} Event
 *
 * @typedef {object} Content what commands change
 * @property {NamedText[]} texts
 * @property {{ name: string, references: string[], units: Unit[] }} pyramid
 * @property {Peer | null} peer null in the annotation of a pyramid
 * @property {[first: string, second: string][]} [decided] the disagreements that an adjudicator has settled
 *
 * @typedef {Content & { annotation: any, version: number, pyramid_version: number | null, may_edit: boolean,
 *   score: any, starts_with: string | null, decided: [first: string, second: string][],
 *   undo: string | null, redo: string | null }} State an annotation as the server sends it
 */

export class Refused extends Error {}

const LONGEST_NAME = 100;

/**
 * The state after a command; Refused says why there is none. Undo, redo and imports are the server's.
 * @template {Content} Kind
 * @param {Kind} state
 * @param {Command} command
 * @returns {Kind}
 */
export function apply(state, command) {
  const { type } = command;
  if (type === "decide") return decide(state, command);
  if (!Object.hasOwn(state.peer ? ANNOTATIONS : EDITS, type)) {
    if (!Object.hasOwn(EDITS, type) && !Object.hasOwn(ANNOTATIONS, type)) return state;
    throw new Refused(`This annotation is of a ${state.peer ? "summary" : "pyramid"}.`);
  }
  for (const text of [command.label, command.comment]) checkText(text ?? "");
  if (state.peer) return { ...state, peer: ANNOTATIONS[type](state.peer, command, state) };
  const { pyramid } = state;
  const units = EDITS[type](pyramid.units, command, state).map(weighed);
  if (units.length === pyramid.units.length && units.every((unit, i) => sameUnit(unit, pyramid.units[i]))) {
    throw new Refused(type === "add_contributor" ? "These words are already in this unit." : "This changes nothing.");
  }
  return { ...state, pyramid: { ...pyramid, units } };
}

/**
 * @template {Content} Kind
 * @param {Kind} state @param {Command} command @returns {Kind}
 */
function decide(state, { first = "", second = "" }) {
  if (isDecided(state, first, second)) throw new Refused("This changes nothing.");
  return { ...state, decided: [...(state.decided ?? []), [first, second]] };
}

/** @param {Content} state @param {string} first @param {string} second */
export const isDecided = ({ decided = [] }, first, second) =>
  decided.some((each) => each[0] === first && each[1] === second);

/** @param {Omit<Unit, "weight"> & { weight?: number }} unit @returns {Unit} */
const weighed = (unit) => ({ ...unit, weight: unit.contributors.length });

/** @param {Unit} one @param {Unit} other */
function sameUnit(one, other) {
  const plain = (/** @type {Unit} */ { id, label, comment, contributors }) =>
    JSON.stringify([id, label, comment, contributors.map(({ reference, spans }) => [reference, spans])]);
  return one.id === other.id && plain(one) === plain(other);
}

// -- what fits the texts -------------------------------------------------------------------------------------

/** @param {string} text */
function checkText(text) {
  if (/\p{Surrogate}/u.test(text)) throw new Refused("This text ends in half a character. Delete its last character.");
}

/** @param {string} name */
const isName = (name) => /^(?:[^\p{C}\p{Z}]| )+$/u.test(name) && pointCount(name) <= LONGEST_NAME;

/** @param {Span[]} spans @param {string} of @param {Content} state */
function checkSpans(spans, of, { texts }) {
  const named = texts.find(({ name }) => name === of);
  if (!named) throw new Refused(`There is no text ${of}.`);
  if (!spans.length) throw new Refused(`No words of ${of} are picked.`);
  const length = pointCount(named.text);
  const wrong = spans.find(([start, end]) => !(0 <= start && start < end && end <= length));
  if (wrong) throw new Refused(`${of} has no words at ${wrong.join("-")}: it has ${length} characters.`);
}

/** @param {Contributor[]} contributors @param {Content} state */
function checkContributors(contributors, state) {
  for (const { reference, spans } of contributors) checkSpans(spans, reference, state);
  if (new Set(contributors.map(({ reference }) => reference)).size < contributors.length) {
    throw new Refused("A unit has at most one contributor per reference.");
  }
}

// -- pyramids ------------------------------------------------------------------------------------------------

/** @typedef {Omit<Unit, "weight"> & { weight?: number }} UnweighedUnit */

/** @param {Unit[]} units @param {string} id */
function find(units, id) {
  const unit = units.find((each) => each.id === id);
  if (!unit) throw new Refused(`Unit ${id} no longer exists.`);
  return unit;
}

/** @param {Unit[]} units @param {string} id */
function checkNew(units, id) {
  if (id !== id.trim() || !isName(id))
    throw new Refused("The name of a unit is one short line without spaces around it.");
  if (units.some((unit) => unit.id === id)) throw new Refused(`There is already a unit ${id}.`);
}

/** @param {UnweighedUnit} unit @param {string} reference */
function contributor(unit, reference) {
  const contributor = unit.contributors.find((each) => each.reference === reference);
  if (!contributor) throw new Refused(`Unit ${unit.id} has no words of ${reference}.`);
  return contributor;
}

/** @param {Unit[]} units @param {string} id @param {(unit: Unit) => Partial<Unit>} change */
function replace(units, id, change) {
  const old = find(units, id);
  const changed = { ...old, ...change(old) };
  return units.map((unit) => (unit === old ? changed : unit));
}

/** @param {Unit} unit @param {string[]} references */
const without = (unit, references) => ({
  contributors: unit.contributors.filter((each) => !references.includes(each.reference)),
});

/** @param {{ contributors: Contributor[] }} unit @param {Contributor} added */
function joined({ contributors }, { reference, spans }) {
  const old = contributors.find((each) => each.reference === reference);
  if (!old) return { contributors: [...contributors, { reference, spans }] };
  const both = { reference, spans: union([...old.spans, ...spans]) };
  return { contributors: contributors.map((each) => (each === old ? both : each)) };
}

/** @type {Record<string, (units: Unit[], command: Command, state: Content) => UnweighedUnit[]>} */
const EDITS = {
  add_unit(units, { unit, label = "", comment = "", contributors = [] }, state) {
    checkContributors(contributors, state);
    checkNew(units, unit);
    const words = contributors.map((/** @type {Contributor} */ { reference, spans }) => ({
      reference,
      spans: union(spans),
    }));
    return [...units, { id: unit, label, comment, contributors: words }];
  },
  rename_unit: (units, { unit, label }) => replace(units, unit, () => ({ label })),
  comment_unit: (units, { unit, comment }) => replace(units, unit, () => ({ comment })),
  delete_unit(units, { unit }) {
    const old = find(units, unit);
    return units.filter((each) => each !== old);
  },
  add_contributor(units, { unit, reference, spans }, state) {
    checkSpans(spans, reference, state);
    return replace(units, unit, (old) => joined(old, { reference, spans: union(spans) }));
  },
  remove_contributor(units, { unit, reference, spans = [] }, state) {
    if (spans.length) checkSpans(spans, reference, state);
    return replace(units, unit, (old) => {
      const had = contributor(old, reference);
      const left = spans.length ? difference(had.spans, spans) : [];
      if (spans.length && sameSpans(left, had.spans)) throw new Refused("None of these words is in this unit.");
      if (!left.length) return without(old, [reference]);
      return { contributors: old.contributors.map((each) => (each === had ? { reference, spans: left } : each)) };
    });
  },
  move_contributor(units, { unit, reference, to }) {
    if (unit === to) throw new Refused("It is already in this unit.");
    const moved = contributor(find(units, unit), reference);
    const left = replace(units, unit, (old) => without(old, [reference]));
    return replace(left, to, (old) => joined(old, moved));
  },
  merge_units(units, { units: ids, label = "" }) {
    if (ids.length < 2 || new Set(ids).size < ids.length) throw new Refused("Merging needs two different units.");
    const [first, ...others] = ids.map((/** @type {string} */ id) => find(units, id));
    const parts = others.flatMap((/** @type {Unit} */ other) => other.contributors);
    const { contributors } = parts.reduce(joined, first);
    const comments = [first, ...others].map((unit) => unit.comment).filter(Boolean);
    const left = units.filter((unit) => !others.includes(unit));
    return replace(left, first.id, () => ({ contributors, comment: comments.join("\n"), label: label || first.label }));
  },
  split_unit(units, { unit, references, label = "", new: id }) {
    const old = find(units, unit);
    checkNew(units, id);
    const moved = [...new Set(references)].map((reference) => contributor(old, String(reference)));
    if (!moved.length || moved.length === old.contributors.length) {
      throw new Refused("To split a unit, take some of its contributors but not all.");
    }
    const rest = { ...old, ...without(old, references) };
    const made = { id, label, comment: "", contributors: moved };
    return units.flatMap((each) => (each === old ? [rest, made] : [each]));
  },
  reorder_unit(units, { unit, before = "" }) {
    const moved = find(units, unit);
    const others = units.filter((each) => each !== moved);
    return before ? others.toSpliced(others.indexOf(find(others, before)), 0, moved) : [...others, moved];
  },
};

// -- peers ---------------------------------------------------------------------------------------------------

/** @param {Mark[]} mentions @param {Span[]} spans */
const has = (mentions, spans) => mentions.some((each) => JSON.stringify(each.spans) === JSON.stringify(spans));

/** @param {Peer} peer @param {string} id */
function checkNewMention({ matches, marks }, id) {
  if (isName(id) && ![...matches, ...marks].some((each) => each.id === id)) return;
  throw new Refused("A match or mark needs a short name of its own.");
}

/** @template {Mark} Kind @param {Kind[]} mentions @param {string} id */
function less(mentions, id) {
  const left = mentions.filter((each) => each.id !== id);
  if (left.length === mentions.length) throw new Refused("This no longer exists.");
  return left;
}

/** @type {Record<string, (peer: Peer, command: Command, state: Content) => Peer>} */
const ANNOTATIONS = {
  match_unit(peer, { unit, spans, id }, state) {
    find(state.pyramid.units, unit);
    checkSpans(spans, state.texts[0].name, state);
    const words = union(spans);
    if (
      has(
        peer.matches.filter((match) => match.unit === unit),
        words,
      )
    ) {
      throw new Refused("This unit is already matched to these words.");
    }
    checkNewMention(peer, id);
    return { ...peer, matches: [...peer.matches, { id, unit, spans: words }] };
  },
  unmatch: (peer, { id }) => ({ ...peer, matches: less(peer.matches, id) }),
  mark_unmatched(peer, { spans, id }, state) {
    checkSpans(spans, state.texts[0].name, state);
    const words = union(spans);
    if (has(peer.marks, words)) throw new Refused("These words are already marked.");
    checkNewMention(peer, id);
    return { ...peer, marks: [...peer.marks, { id, spans: words }] };
  },
  remove_mark: (peer, { id }) => ({ ...peer, marks: less(peer.marks, id) }),
};

// -- names of commands' things -------------------------------------------------------------------------------

/** @type {Record<string, string>} */
const MAKES = { add_unit: "unit", split_unit: "new", match_unit: "id", mark_unmatched: "id" };
let serial = 0;

/**
 * A command that makes something gets a name for it that the server never sees: it gives the real one.
 * @param {Command} command
 */
export function named(command) {
  const field = MAKES[command.type];
  return field && !command[field] ? { ...command, [field]: `new:${Date.now()}-${++serial}` } : command;
}

/** @param {unknown} id @returns {id is string} */
export const isProvisional = (id) => typeof id === "string" && id.startsWith("new:");

/** What a command makes, by name. @param {Command} command @returns {string | undefined} */
export const made = (command) => command[MAKES[command.type]];

/** The command without provisional names. @param {Command} command */
export function unnamed(command) {
  const field = MAKES[command.type];
  return field && isProvisional(command[field]) ? { ...command, [field]: "" } : command;
}

/**
 * The command where a thing has got its real name.
 * @param {Command} command
 * @param {string | undefined} from
 * @param {string | undefined} to
 * @returns {Command}
 */
export function renamed({ type, ...fields }, from, to) {
  /** @param {unknown} value @returns {unknown} */
  const swap = (value) => (value === from ? to : Array.isArray(value) ? value.map(swap) : value);
  return { type, ...Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, swap(value)])) };
}

/**
 * The units that a command names; null for undo and redo, which may be about any.
 * @param {Command} command @returns {string[] | null}
 */
export function unitsOf(command) {
  if (command.type === "undo" || command.type === "redo" || command.type.startsWith("import")) return null;
  return [command.unit, command.to, command.new, command.before, ...(command.units ?? [])].filter(Boolean);
}
