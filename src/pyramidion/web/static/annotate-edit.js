// What a command does to a state, as in pyramidion.methods.annotate.editing, so that the page need not wait for the
// server. What the server answers replaces what is made here; a command that it would refuse is refused here at once.

import { difference, sameSpans, union } from "./annotate-spans.js";

export class Refused extends Error {}

export function apply(state, command) {
  const edit = EDITS[command.type];
  if (edit) return { ...state, pyramid: { ...state.pyramid, units: edit(state.pyramid.units, command).map(weighed) } };
  const annotate = ANNOTATIONS[command.type];
  return annotate ? { ...state, peer: annotate(state.peer, command) } : state;
}

const weighed = (unit) =>
  unit.weight === unit.contributors.length ? unit : { ...unit, weight: unit.contributors.length };

// -- pyramids ------------------------------------------------------------------------------------------------

function find(units, id) {
  const found = units.find((unit) => unit.id === id);
  if (!found) throw new Refused(`There is no unit ${id} any more.`);
  return found;
}

function contributor(unit, reference) {
  const found = unit.contributors.find((each) => each.reference === reference);
  if (!found) throw new Refused(`Unit ${unit.id} has no words of ${reference}.`);
  return found;
}

function put(units, id, change) {
  const old = find(units, id);
  const changed = { ...old, ...change(old) };
  return units.map((unit) => (unit === old ? changed : unit));
}

const without = (unit, references) => ({
  contributors: unit.contributors.filter((each) => !references.includes(each.reference)),
});

function joined({ contributors }, { reference, spans }) {
  const old = contributors.find((each) => each.reference === reference);
  if (!old) return { contributors: [...contributors, { reference, spans: union(spans) }] };
  const both = { reference, spans: union([...old.spans, ...spans]) };
  return { contributors: contributors.map((each) => (each === old ? both : each)) };
}

const EDITS = {
  add_unit: (units, { unit, label = "", comment = "", contributors = [] }) => [
    ...units,
    {
      id: unit,
      label,
      comment,
      contributors: contributors.map((each) => ({ ...each, spans: union(each.spans) })),
    },
  ],
  rename_unit: (units, { unit, label }) => put(units, unit, () => ({ label })),
  comment_unit: (units, { unit, comment }) => put(units, unit, () => ({ comment })),
  delete_unit(units, { unit }) {
    const old = find(units, unit);
    return units.filter((each) => each !== old);
  },
  add_contributor: (units, { unit, reference, spans }) => {
    const had = find(units, unit).contributors.find((each) => each.reference === reference);
    if (had && sameSpans([...had.spans, ...spans], had.spans)) throw new Refused("These words are in this unit already.");
    return put(units, unit, (old) => joined(old, { reference, spans }));
  },
  remove_contributor: (units, { unit, reference, spans = [] }) =>
    put(units, unit, (old) => {
      const had = contributor(old, reference);
      const left = spans.length ? difference(had.spans, spans) : [];
      if (spans.length && sameSpans(left, had.spans)) throw new Refused("None of these words is in this unit.");
      if (!left.length) return without(old, [reference]);
      return { contributors: old.contributors.map((each) => (each === had ? { reference, spans: left } : each)) };
    }),
  move_contributor(units, { unit, reference, to }) {
    if (unit === to) throw new Refused("It is in this unit already.");
    const moved = contributor(find(units, unit), reference);
    return put(
      put(units, unit, (old) => without(old, [reference])),
      to,
      (old) => joined(old, moved),
    );
  },
  merge_units(units, { units: ids, label = "" }) {
    const [first, ...others] = ids.map((id) => find(units, id));
    if (!others.length || new Set(ids).size < ids.length) throw new Refused("Merging needs two different units.");
    const parts = others.flatMap((other) => other.contributors);
    const { contributors } = parts.reduce(joined, first);
    const comment = [first, ...others].map((unit) => unit.comment).filter(Boolean).join("\n");
    const left = units.filter((unit) => !others.includes(unit));
    return put(left, first.id, () => ({ contributors, comment, label: label || first.label }));
  },
  split_unit(units, { unit, references, label = "", new: id }) {
    const old = find(units, unit);
    const moved = references.map((reference) => contributor(old, reference));
    if (!moved.length || moved.length === old.contributors.length) {
      throw new Refused("A split takes some of the words' references and leaves some.");
    }
    const made = { id, label, comment: "", contributors: moved };
    return put(units, unit, () => without(old, references)).flatMap((each) => (each.id === unit ? [each, made] : [each]));
  },
  reorder_unit(units, { unit, before = "" }) {
    const moved = find(units, unit);
    const others = units.filter((each) => each !== moved);
    return before ? others.toSpliced(others.indexOf(find(others, before)), 0, moved) : [...others, moved];
  },
};

// -- peers ---------------------------------------------------------------------------------------------------

const same = (items, spans) => items.some((item) => sameSpans(item.spans, spans));

const ANNOTATIONS = {
  match_unit(peer, { unit, spans, id }) {
    if (same(peer.matches.filter((match) => match.unit === unit), spans)) {
      throw new Refused("This unit is matched to these words already.");
    }
    return { ...peer, matches: [...peer.matches, { id, unit, spans: union(spans) }] };
  },
  unmatch: (peer, { id }) => ({ ...peer, matches: less(peer.matches, id) }),
  mark_unmatched(peer, { spans, id }) {
    if (same(peer.marks, spans)) throw new Refused("These words are marked already.");
    return { ...peer, marks: [...peer.marks, { id, spans: union(spans) }] };
  },
  remove_mark: (peer, { id }) => ({ ...peer, marks: less(peer.marks, id) }),
};

function less(items, id) {
  const left = items.filter((item) => item.id !== id);
  if (left.length === items.length) throw new Refused("This is not there any more.");
  return left;
}

// -- names of commands' things -------------------------------------------------------------------------------

const MAKES = { add_unit: "unit", split_unit: "new", match_unit: "id", mark_unmatched: "id" };
let serial = 0;

/** A command that makes something gets a name for it that the server never sees: it gives the real one. */
export function named(command) {
  const field = MAKES[command.type];
  return field && !command[field] ? { ...command, [field]: `new:${Date.now()}-${++serial}` } : command;
}

export const isProvisional = (id) => typeof id === "string" && id.startsWith("new:");

/** What a command makes, by name. */
export const made = (command) => command[MAKES[command.type]];

/** The command without provisional names. */
export function unnamed(command) {
  const field = MAKES[command.type];
  return field && isProvisional(command[field]) ? { ...command, [field]: "" } : command;
}

/** The command where a thing has got its real name. */
export function renamed(command, from, to) {
  const swap = (value) => (value === from ? to : Array.isArray(value) ? value.map(swap) : value);
  return Object.fromEntries(Object.entries(command).map(([field, value]) => [field, swap(value)]));
}

/** The units that a command names; null for undo and redo, which may be about any. */
export function unitsOf(command) {
  if (command.type === "undo" || command.type === "redo" || command.type.startsWith("import")) return null;
  return [command.unit, command.to, command.new, command.before, ...(command.units ?? [])].filter(Boolean);
}
