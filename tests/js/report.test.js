// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { compareCells } from "../../src/pyramidion/report/static/tables.js";
import { installPage } from "./page.js";

installPage({ head: JSON.stringify({ topics: [], systems: [], measures: [], scores: [] }) });
const { comparedWith, csvCell } = await import("../../src/pyramidion/report/static/data.js");

test("cells are sorted numbers first, and what is missing last in both directions", () => {
  const cells = ["b10", "", 2, "b9", 10];
  assert.deepEqual(
    cells.toSorted((a, b) => compareCells(a, b, 1)),
    [2, 10, "b9", "b10", ""],
  );
  assert.deepEqual(
    cells.toSorted((a, b) => compareCells(a, b, -1)),
    [10, 2, "b10", "b9", ""],
  );
});

test("no spreadsheet runs a cell as a formula", () => {
  assert.deepEqual(["=1+1", "'=1", "-x", "a,b", 'say "x"'].map(csvCell), [
    "'=1+1",
    "''=1",
    "'-x",
    '"a,b"',
    '"say ""x"""',
  ]);
  assert.deepEqual([-1, null, undefined].map(csvCell), ["-1", "", ""]);
  for (const disguised of ["\uff1d1+1", "\u200b=1", "\ufeff\u00a0@x", "\ufe0f+1", "\u2212x", "\u3164=1", "\n=1", " =1"])
    assert.ok(csvCell(disguised).replace('"', "").startsWith("'"), disguised);
  assert.deepEqual(["\u200bplain", "\u00e9t\u00e9"].map(csvCell), ["\u200bplain", "\u00e9t\u00e9"]);
});

test("a summary that is a reference is compared with the other references", () => {
  /** @type {any} */
  const topic = {
    id: "t",
    tiers: 2,
    units: [
      [
        "1",
        "one",
        2,
        [
          ["A", "x"],
          ["B", "y"],
        ],
      ],
      ["2", "two", 1, [["A", "z"]]],
    ],
  };
  /** @type {any} */
  const summary = { own: "A", weights: [1, null] };
  const { units, tiers } = comparedWith(topic, summary);
  assert.deepEqual(
    [tiers, units],
    [
      1,
      [
        ["1", "one", 1, [["B", "y"]]],
        ["2", "two", null, []],
      ],
    ],
  );
  assert.equal(comparedWith(topic, { ...summary, own: "" }), topic);
});
