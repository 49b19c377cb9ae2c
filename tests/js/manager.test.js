// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { bins, binName, niceStep } from "../../src/pyramidion/server/static/manager/charts.js";
import { bySystem, goalWords, scale, statusLine } from "../../src/pyramidion/server/static/manager/rounds.js";
import { ranking } from "../../src/pyramidion/server/static/manager/scores.js";
import { changeWords } from "../../src/pyramidion/server/static/manager/changes.js";
import { settingGroups } from "../../src/pyramidion/server/static/manager/settings.js";
import * as words from "../../src/pyramidion/server/static/manager/words.js";

/** @param {string} kind @param {number} submitted @param {string} [state] */
const campaign = (kind, submitted, state = "running") => ({
  name: `${kind}-1`,
  kind,
  state,
  progress: { submitted, wanted: 10, leased: 0, surplus: 0, tasks: 5, tasks_full: 0 },
});

test("settings are in the groups that the server names, the first ones at once", () => {
  const made = { label: "", help: "", kinds: [], type: "int", default_by_kind: {}, choices: null, low: 0, high: 1 };
  /** @param {string} name @param {string} group */
  const setting = (name, group) => ({ ...made, name, group, longest: 500, fixed: "" });
  const given = [setting("seed", "More"), setting("pay", ""), setting("check", "Quality"), setting("new", "More")];
  const named = settingGroups(given).map(([title, settings]) => [title, settings.map(({ name }) => name)]);
  assert.deepEqual(named, [
    ["", ["pay"]],
    ["More", ["seed", "new"]],
    ["Quality", ["check"]],
  ]);
});

test("methods are those installed, and changes are put into words", () => {
  assert.deepEqual(words.orderMethods(["auto", "of-a-plugin", "lite"]), ["lite", "auto", "of-a-plugin"]);
  assert.ok(!Object.hasOwn(words.METHODS, "pairwise"));
  const change = { at: 0, actor: "mona", campaign: "j" };
  const edit = { ...change, action: "edit", detail: { changed: { pay: [0.45, 0.6], instructions: true } } };
  assert.equal(changeWords(edit), "edited it: pay 0.45 → 0.6; instructions");
  assert.equal(changeWords({ ...change, action: "of-a-later-release", detail: {} }), "of-a-later-release");
});

test("what a study lacks for a kind of campaign", () => {
  const none = { references: 0, peers: 0, units: 0, systems: 0 };
  for (const kind of Object.keys(words.KINDS)) assert.notEqual(words.missingFor(kind, none), "");
  const some = { references: 1, peers: 2, units: 0, systems: 1 };
  assert.deepEqual(
    ["write", "rate"].map((kind) => words.missingFor(kind, some)),
    ["", ""],
  );
  assert.match(words.missingFor("judge", some), /no units to judge/);
  assert.match(words.missingFor("compare", some), /two systems/);
  assert.equal(words.missingFor("judge", { ...some, units: 1 }), "");
});

test("the next step leads from writing to judging to closing", () => {
  const counts = { references: 3, peers: 2, units: 0 };
  const written = campaign("write", 10);
  const step = (/** @type {any} */ study) => words.nextStep(study)?.key ?? null;
  assert.equal(step({ counts: {}, campaigns: [] }), "texts");
  assert.equal(step({ counts, campaigns: [campaign("judge", 0, "paused")] }), "open judge-1");
  assert.equal(step({ counts, campaigns: [] }), "first write");
  assert.equal(step({ counts: { ...counts, units: 4 }, campaigns: [] }), "first judge");
  assert.equal(step({ counts, campaigns: [campaign("write", 3)] }), null);
  assert.equal(step({ counts, campaigns: [written] }), "units write-1");
  assert.equal(step({ counts: { ...counts, units: 4 }, campaigns: [written] }), "judge");
  const judging = {
    counts: { ...counts, units: 4 },
    campaigns: [campaign("write", 10, "closed"), campaign("judge", 10)],
  };
  assert.equal(step(judging), "close judge-1");
  assert.equal(words.suggestKind({ counts, campaigns: [] }), "write");
  assert.equal(words.suggestKind({ counts, campaigns: [written] }), "judge");
});

test("times fall into equal bins, and the slowest share an open one", () => {
  const seconds = [...Array.from({ length: 199 }, (_, i) => i / 10), 5000];
  const parts = bins(seconds, 24);
  assert.equal(
    parts.reduce((sum, bin) => sum + bin.count, 0),
    200,
  );
  assert.deepEqual([parts[0].from, parts[0].to, parts[0].count], [0, 1, 10]);
  assert.deepEqual([parts.at(-1)?.to, parts.at(-1)?.count], [Number.POSITIVE_INFINITY, 1]);
  assert.equal(binName({ from: 60, to: 120, count: 0 }), "60 s to 2 min");
  assert.deepEqual(bins([]), []);
  assert.deepEqual([0.1, 1, 1.5, 3, 7, 30].map(niceStep), [1, 1, 2, 5, 10, 50]);
});

test("equal scores share a rank, undefined ones have none", () => {
  const systems = [
    ["a", 0.2],
    ["b", 0.5],
    ["c", 0.5],
    ["d", null],
  ].map(([system, score]) => ({ system: String(system), score }));
  assert.deepEqual(
    [...ranking(systems, "score")],
    [
      ["a", 3],
      ["b", 1],
      ["c", 1],
    ],
  );
});

test("a goal and how it is going are put into words", () => {
  assert.equal(goalWords("top"), "it is known which system is best");
  assert.equal(goalWords("pairs=90%"), "90% of the pairs of systems are decided");
  assert.equal(goalWords("width=0.03"), "every interval is at most 0.03 wide");
  const data = { round: 2, rounds: 8, open_tasks: 1, stop: null };
  const line = (/** @type {any} */ more) => statusLine({ ...data, ...more });
  assert.deepEqual(line({ status: "asking" }), ["", "Round 2 of 8: 1 task still lacks answers."]);
  assert.deepEqual(line({ status: "looking" }), [
    "",
    "Round 2 of 8: all answers are in; the next look is being taken.",
  ]);
  const [tone, text] = line({ status: "stopped", stop: { reason: "goal", text: "the goal is reached (top)" } });
  assert.deepEqual([tone, text], ["good", "Round 2 of 8, stopped: the goal is reached (top)."]);
  assert.equal(line({ status: "stopped", stop: { reason: "budget", text: "too dear" } })[0], "warn");
  assert.equal(line({ status: "closed" })[0], "warn");
});

test("what looks said of a system is put together, the best system first", () => {
  /** @param {string} system @param {number} score */
  const standing = (system, score) => ({ system, score, low: score - 0.12, high: score + 0.12, active: true });
  const looks = [
    { number: 1, standings: [standing("a", 0.6), standing("b", 0.7)] },
    { number: 2, standings: [standing("a", 0.65), standing("b", 0.5), standing("c", 0.65)] },
  ];
  const found = bySystem(/** @type {any} */ ({ looks }));
  assert.deepEqual(
    found.map(({ system, seen }) => [system, ...seen.map(({ look }) => look)]),
    [
      ["a", 1, 2],
      ["c", 2],
      ["b", 1, 2],
    ],
  );
  assert.deepEqual(bySystem({ looks: [] }), []);
  assert.deepEqual(scale(looks.flatMap((look) => look.standings)), [0.3, 0.9]);
  assert.deepEqual(scale([{ low: 0.5, high: 0.5 }]), [0.5, 0.6]);
});
