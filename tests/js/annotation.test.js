// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import * as adjudicating from "../../src/pyramidion/server/static/annotation/adjudicating.js";
import { keyName } from "../../src/pyramidion/server/static/annotation/bar.js";
import * as commands from "../../src/pyramidion/server/static/annotation/commands.js";
import { whyNot } from "../../src/pyramidion/server/static/annotation/desk.js";
import { likelyUnits, matchesSearch } from "../../src/pyramidion/server/static/annotation/finder.js";
import { contributors, Pick } from "../../src/pyramidion/server/static/annotation/pick.js";
import { firstLabel } from "../../src/pyramidion/server/static/annotation/pyramid.js";
import { Past, Queue } from "../../src/pyramidion/server/static/annotation/queue.js";
import { findWords } from "../../src/pyramidion/server/static/annotation/reading.js";
import * as spans from "../../src/pyramidion/server/static/shared/spans.js";
import { installPage } from "./page.js";

/** @import { Unit } from "../../src/pyramidion/server/static/annotation/commands.js" */
/** @import { Span } from "../../src/pyramidion/server/static/shared/spans.js" */

// -- spans and words -----------------------------------------------------------------------------------------

test("places count code points for the server and UTF-16 for the browser", () => {
  const places = new spans.Places("a👍b");
  assert.deepEqual(
    places.toPoints([
      [0, 1],
      [1, 3],
      [3, 4],
    ]),
    [
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  );
  assert.deepEqual(
    places.toUnits([
      [1, 2],
      [2, 3],
    ]),
    [
      [1, 3],
      [3, 4],
    ],
  );
  assert.deepEqual(places.toPoints([[2, 4]]), [[1, 3]]); // the inside of a character is the character
  assert.equal(spans.pointCount("a👍b👩‍👩‍👧"), 8);
  assert.equal(new spans.Places("plain").same, true);
});

test("spans: union, difference, depth, what is outside", () => {
  assert.deepEqual(
    spans.union([
      [5, 9],
      [0, 2],
      [2, 4],
      [6, 7],
    ]),
    [
      [0, 4],
      [5, 9],
    ],
  );
  assert.deepEqual(
    spans.difference(
      [[0, 10]],
      [
        [2, 3],
        [5, 6],
        [9, 20],
      ],
    ),
    [
      [0, 2],
      [3, 5],
      [6, 9],
    ],
  );
  assert.deepEqual(spans.difference([[0, 3]], [[0, 3]]), []);
  assert.deepEqual(
    spans.depths([
      [0, 4],
      [2, 6],
      [2, 4],
    ]),
    [
      [0, 2, 1],
      [2, 4, 3],
      [4, 6, 1],
    ],
  );
  assert.deepEqual(
    spans.outside(
      [
        [0, 2],
        [3, 5],
        [6, 8],
      ],
      [
        [1, 3],
        [7, 9],
      ],
    ),
    [[3, 5]],
  );
  assert.equal(
    spans.sameSpans(
      [
        [0, 2],
        [2, 4],
      ],
      [[0, 4]],
    ),
    true,
  );
  assert.deepEqual(
    [0, 3, 4].map((place) => spans.holds([[1, 4]], place)),
    [false, true, false],
  );
});

test("words are places to stop at", () => {
  const words = new spans.Words("The old bridge, at 5%. It closed.");
  const shown = words.spans.map(([start, end]) => words.text.slice(start, end));
  assert.deepEqual(shown, ["The", "old", "bridge", "at", "5", "%", "It", "closed"]);
  assert.equal(words.at(5), 1);
  assert.equal(words.at(14), 2); // the comma belongs to the word before it
  assert.deepEqual(words.between(2, 1), [4, 14]);
  assert.deepEqual(words.snap(5, 9), [4, 14]);
  assert.equal(words.snap(14, 15), null);
  assert.equal(words.sentence(0, 1), 6);
  assert.equal(words.sentence(7, -1), 6);
  assert.equal(words.rtl, false);
  assert.equal(new spans.Words("(גשר) open").rtl, true);
  assert.equal(new spans.Words("👩‍👩‍👧!").step(0, 1), 8); // one grapheme
});

// -- picking -------------------------------------------------------------------------------------------------

test("a pick has pieces of several texts, and one that grows", () => {
  /** @param {string} name */
  const text = (name) => /** @type {any} */ ({ name, places: new spans.Places("👍 and some words") });
  const [a, b] = [text("A"), text("B")];
  let changes = 0;
  const pick = new Pick(() => {
    changes += 1;
  });
  pick.begin(a, [0, 2]);
  pick.grow([0, 6]);
  assert.deepEqual(pick.spans(a), [[0, 6]]);
  pick.begin(b, [3, 6], { beside: true });
  assert.deepEqual(contributors(pick), [
    { reference: "A", spans: [[0, 5]] },
    { reference: "B", spans: [[2, 5]] },
  ]);
  pick.toggle(b, [3, 6]);
  pick.toggle(a, [7, 11]);
  assert.deepEqual(
    [pick.spans(a), pick.spans(b)],
    [
      [
        [0, 6],
        [7, 11],
      ],
      [],
    ],
  );
  assert.equal(pick.holds(a, 8), true);
  pick.clear();
  assert.equal(pick.empty, true);
  pick.begin(a, [0, 2]);
  pick.begin(a, [3, 6]); // instead of the first
  assert.deepEqual([pick.spans(a), changes], [[[3, 6]], 8]);
});

test("keys, and searching whatever the accents", () => {
  assert.equal(keyName({ key: "N", code: "KeyN", altKey: false }), "n");
  assert.equal(keyName({ key: "ArrowUp", code: "ArrowUp", altKey: true }), "Alt+ArrowUp");
  assert.equal(keyName({ key: "Delete", code: "Delete", altKey: false }), "Delete");
  assert.equal(matchesSearch("Die Brücke ist zu", "BRUCKE zu"), true);
  assert.equal(matchesSearch("Die Brücke ist zu", "Brücke offen"), false);
});

test("only two annotations of one text can be put side by side", () => {
  const row = {
    id: 1,
    name: "a",
    kind: "peer",
    topic: "t",
    system: "s",
    owner: "me",
    shared: false,
    pyramid: "p",
    pyramid_id: null,
  };
  assert.equal(whyNot([row, { ...row, id: 2 }]), "");
  assert.match(whyNot([row]), /Tick two/);
  assert.match(whyNot([row, { ...row, system: "other" }]), /different texts/);
  assert.match(whyNot([row, { ...row, pyramid: "q" }]), /different pyramids/);
});

// -- commands that wait --------------------------------------------------------------------------------------

test("commands wait in order, on the device too; the last can be withdrawn until it is sent", () => {
  installPage();
  const queue = new Queue(1, "me");
  queue.add({ type: "add_unit", unit: "new:1" }, 4);
  queue.add({ type: "rename_unit", unit: "new:1", label: "x" }, 4);
  assert.deepEqual(new Queue(1, "me").left(), { version: 4, commands: queue.commands });
  assert.equal(new Queue(1, "somebody else").left(), null);
  assert.equal(queue.withdraw(4)?.type, "rename_unit");
  queue.first.sending = true;
  assert.equal(queue.withdraw(4), null);
  queue.add({ type: "merge_units", units: ["new:1", "2"] }, 4);
  queue.rename("new:1", "9", 5);
  assert.deepEqual(queue.commands[1], { type: "merge_units", units: ["9", "2"] });
  assert.deepEqual(
    queue.drop(() => true, 5).map(({ type }) => type),
    ["merge_units"],
  ); // not what is being sent
  queue.shift(5);
  assert.equal(queue.left(), null);
});

test("undo and redo are foreseen, as far as is known", () => {
  /** @param {string} name */
  const state = (name) => /** @type {any} */ ({ pyramid: name, peer: null, decided: [] });
  const item = (/** @type {string} */ type) => ({ command: { type }, preview: null, tried: false, sending: true });
  const past = new Past();
  const at = (/** @type {string} */ name) => () => state(name);
  assert.equal(past.preview("undo", [], at("x")), null);
  past.taken("add_unit", state("0"));
  assert.deepEqual(past.preview("undo", [], at("x")), state("0"));
  assert.deepEqual(past.preview("undo", [item("rename_unit")], at("1")), state("1"));
  past.taken("undo", state("1"));
  assert.deepEqual(past.preview("redo", [], at("x")), state("1"));
  assert.equal(past.preview("undo", [item("redo")], at("0")), null); // where a redo leads that was not foreseen
  past.forget();
  assert.equal(past.preview("redo", [], at("x")), null);
});

test("new things have provisional names until the server names them", () => {
  const command = commands.named({ type: "split_unit", unit: "1", references: ["A"] });
  assert.equal(commands.isProvisional(commands.made(command)), true);
  assert.equal(commands.unnamed(command).new, "");
  assert.equal(commands.made(commands.named({ type: "rename_unit", unit: "1" })), undefined);
  assert.deepEqual(commands.unitsOf({ type: "merge_units", units: ["1", "2"] }), ["1", "2"]);
  assert.equal(commands.unitsOf({ type: "undo" }), null);
});

// -- adjudication --------------------------------------------------------------------------------------------

/** @param {string} id @param {Record<string, Span[]>} words @returns {Unit} */
const unit = (id, words, label = "label") => {
  const list = Object.entries(words).map(([reference, held]) => ({ reference, spans: held }));
  return { id, label, comment: "", weight: list.length, contributors: list };
};
const TEXTS = ["A", "B"].map((name) => ({ name, text: "some words of a reference" }));

test("the third takes either side's unit by commands, whatever it has", () => {
  const first = unit("1", { A: [[0, 4]], B: [[0, 4]] });
  const second = unit(
    "7",
    {
      A: [
        [0, 4],
        [5, 10],
      ],
    },
    "another label",
  );
  /** @type {{ first: Unit | null, second: Unit | null }[]} */
  const rows = [
    { first, second },
    { first, second: null },
    { first, second: { ...first, comment: "why" } },
  ];
  for (const row of rows) {
    for (const side of /** @type {const} */ (["second", "first", "second"])) {
      /** @type {import("../../src/pyramidion/server/static/annotation/adjudicating.js").Origin} */
      const origin = { start: "first", known: new Set(["1"]) };
      let state = { texts: TEXTS, pyramid: { name: "p", references: ["A", "B"], units: [first] }, peer: null };
      const mine = adjudicating.thirdUnit(row, state.pyramid.units, origin);
      for (const command of adjudicating.takeUnit(row[side], mine))
        state = commands.apply(state, commands.named(command));
      assert.equal(adjudicating.sideOfUnit(row, state.pyramid.units, origin), side);
    }
  }
});

test("the third takes either side's matches and marks by commands", () => {
  const pyramid = { name: "p", references: ["A"], units: [unit("1", { A: [] })] };
  /** @type {any} */
  const peer = { matches: [{ id: "a", unit: "1", spans: [[0, 4]] }], marks: [] };
  for (const name of ["1", ""]) {
    const row = {
      unit: name,
      first: [{ id: "x", spans: spans.union([[0, 4]]) }],
      second: [
        {
          id: "y",
          spans: spans.union([
            [5, 7],
            [9, 12],
          ]),
        },
      ],
    };
    for (const side of /** @type {const} */ (["first", "second"])) {
      let state = { texts: [TEXTS[0]], pyramid, peer };
      for (const command of adjudicating.takeMatches(name, row[side], peer))
        state = commands.apply(state, commands.named(command));
      assert.equal(adjudicating.sideOfMatches(row, state.peer), side);
    }
  }
});

test("what is settled is remembered once, and foreseen by undo", () => {
  /** @type {any} */
  const state = { texts: TEXTS, pyramid: { name: "p", references: ["A"], units: [] }, peer: null };
  const settled = commands.apply(state, { type: "decide", first: "1", second: "7" });
  assert.deepEqual(settled.decided, [["1", "7"]]);
  assert.equal(commands.isDecided(settled, "1", "7"), true);
  assert.equal(commands.isDecided(state, "1", "7"), false);
  assert.throws(() => commands.apply(settled, { type: "decide", first: "1", second: "7" }), commands.Refused);
});

// -- finding one's way -----------------------------------------------------------------------------------------

test("neighbouring units have different hues, and those that overlap different lanes", () => {
  /** @param {string} of @param {Span[]} list */
  const used = (of, ...list) => ({ unit: of, text: "A", spans: list });
  const mentions = [
    used("1", [0, 9]),
    used("2", [10, 19]),
    used("3", [5, 12]),
    used("4", [90, 99]),
    used("1", [20, 29]),
  ];
  const hues = spans.hues(mentions, 6);
  for (const [one, other] of ["12", "13", "23"]) assert.notEqual(hues.get(one), hues.get(other), `${one} ${other}`);
  const more = spans.hues([...mentions, used("5", [91, 95])], 6);
  for (const [of, hue] of hues) assert.equal(more.get(of), hue, "earlier units keep theirs");
  assert.ok(
    [...spans.hues(mentions, 1).values()].every((hue) => hue === 0),
    "one hue for all where there is one",
  );
  const lanes = spans.lanes(spans.pieces(mentions), 2).map(({ unit: of, lane }) => [of, lane]);
  assert.deepEqual(lanes, [
    ["1", 0],
    ["3", 1],
    ["2", 0],
    ["1", 0],
    ["4", 0],
  ]);
});

test("a clause reaches from mark or conjunction to the next, a sentence from stop to stop", () => {
  const text = "On Monday, 1,200 farmers sued the city; it answered (late). Nobody came.";
  const words = new spans.Words(text);
  /** @param {[number, number]} ends */
  const said = ([first, last]) => text.slice(...words.between(first, last));
  /** @param {string} word */
  const at = (word) => words.at(text.indexOf(word));
  assert.equal(said(words.clause(at("farmers"))), "1,200 farmers sued the city");
  assert.equal(said(words.clause(at("late"))), "late");
  const long = new spans.Words("Farmers who grow rice sued and won");
  assert.deepEqual(long.clause(0), [0, 0]);
  assert.deepEqual(long.clause(2), [1, 4]);
  assert.deepEqual(long.clause(6), [5, 6]);
  assert.equal(said(words.clause(at("Nobody"))), "Nobody came");
  assert.equal(said(words.sentenceAround(at("sued"))), text.slice(0, text.indexOf(" Nobody") - 2));
  assert.equal(said(words.sentenceAround(at("came"))), "Nobody came");
});

test("words are found whatever their accents, capitals and code points", () => {
  const text = "👍 Le CAFÉ, le cafe\u0301, un ﬁlm";
  assert.deepEqual(
    findWords(text, "café").map(([start, end]) => text.slice(start, end)),
    ["CAFÉ", "cafe"],
  );
  assert.deepEqual(
    findWords(text, "fil").map(([start, end]) => text.slice(start, end)),
    ["ﬁl"],
  );
  assert.deepEqual(findWords(text, "  "), []);
  assert.deepEqual(findWords(text, "tea"), []);
});

test("likely units share rare words with what is picked", () => {
  const units = [
    unit("1", {}, "The city rations water"),
    unit("2", {}, "Farmers sue the city"),
    unit("3", {}, "The city council met"),
  ];
  /** @param {string} words */
  const likely = (words) => likelyUnits(words, units, ({ id }) => (id === "3" ? ["growers"] : [])).map(({ id }) => id);
  assert.equal(likely("a farmer has sued the city")[0], "2");
  assert.deepEqual(likely("Growers of apples"), ["3"]);
  assert.deepEqual(likely("nothing of the sort"), []);
});

test("the first label is one contributor's words, as a sentence begins", () => {
  assert.equal(firstLabel(["growers", " are\nsuing  the city"]), "Growers are suing the city");
  assert.equal(firstLabel([]), "");
});
