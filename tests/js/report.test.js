// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { compareCells } from "../../src/pyramidion/report/static/tables.js";
import { installPage } from "./page.js";

installPage({ head: JSON.stringify({ systems: [], measures: [], folder: "topics/", page: "b.html" }) });
const { address, comparedWith, heatStep } = await import("../../src/pyramidion/report/static/data.js");

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

test("a colour is one of ten steps", () => {
  assert.deepEqual(
    [0, 0.05, 0.1, 0.99, 1, 1.2].map((value) => heatStep(value)),
    [0, 0, 1, 9, 9, 9],
  );
  assert.deepEqual([heatStep(5, 0, 10), heatStep(-1, 0, 1), heatStep(3, 3, 3)], [5, 0, 0]);
});

test("a view is in this page, or in that of its topic", () => {
  assert.equal(address({ id: "a b" }, "summary", "x/y"), "#summary/a%20b/x%2Fy");
  assert.equal(address({ id: "a", page: "a.html" }, "topic"), "topics/a.html");
  assert.equal(address({ id: "a", page: "a.html" }, "summary", "s"), "topics/a.html#summary/a/s");
  assert.equal(address({ id: "b", page: "b.html" }, "topic"), "#topic/b");
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
