// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { ApiError, call, path, untilAnswered, waits } from "../../src/pyramidion/server/static/shared/api.js";
import { device } from "../../src/pyramidion/server/static/shared/device.js";
import * as format from "../../src/pyramidion/server/static/shared/format.js";
import { shortcuts } from "../../src/pyramidion/server/static/shared/shortcuts.js";
import { sortedKeys } from "../../src/pyramidion/server/static/shared/table.js";
import { installPage, installServer } from "./page.js";

test("percents say 100 only when all is done and 0 only when nothing is", () => {
  const shown = [0, 1, 5, 995, 999, 1000, 1200].map((part) => format.percent(part, 1000));
  assert.deepEqual(shown, ["0%", "<1%", "<1%", "99%", "99%", "100%", "100%"]);
  assert.equal(format.percent(1, 0), "0%");
});

test("durations", () => {
  const shown = [0.25, 9.96, 10, 119, 120, 3600, 3661, 7325].map(format.duration);
  assert.deepEqual(shown, ["0.3 s", "10 s", "10 s", "119 s", "2 min", "1 h", "1 h 1 min", "2 h 2 min"]);
  assert.equal(format.duration(null), format.NONE);
});

test("counts, numbers and amounts", () => {
  assert.equal(format.plural(1, "unit"), "1 unit");
  assert.equal(format.plural(1234, "summary", "summaries"), "1,234 summaries");
  assert.equal(format.fixed(-0.5), "−0.50");
  assert.equal(format.count(Number.NaN), format.NONE);
  assert.deepEqual(format.splitCost("$2.16 for 4 assignments"), ["$2.16", "for 4 assignments"]);
  assert.deepEqual(format.splitCost("nothing"), ["nothing", ""]);
});

test("a text is not cut inside a character", () => {
  assert.equal(format.beginning("ab👍", 3), "ab");
  assert.equal(format.beginning("ab👍", 4), "ab👍");
});

test("keys are known by their place where they type other letters", () => {
  assert.equal(shortcuts.letter({ key: "P", code: "KeyP" }), "p");
  assert.equal(shortcuts.letter({ key: "з", code: "KeyP" }), "p");
  assert.equal(shortcuts.letter({ key: "?", code: "Slash" }), "?");
});

test("rows are sorted by value, then key; what is missing comes last in both directions", () => {
  /** @type {[string, number | null][]} */
  const rows = [
    ["b", 1],
    ["none", null],
    ["a", 1],
    ["c10", 3],
    ["c9", 3],
  ];
  assert.deepEqual(sortedKeys(rows, "ascending"), ["a", "b", "c9", "c10", "none"]);
  assert.deepEqual(sortedKeys(rows, "descending"), ["c9", "c10", "a", "b", "none"]);
  assert.deepEqual(
    sortedKeys(
      [
        ["x", "Zoo"],
        ["y", "äpfel"],
        ["z", "Apfel"],
      ],
      "ascending",
    ),
    ["y", "z", "x"],
  );
});

test("a device that refuses keeps nothing, and says so", () => {
  const storage = installPage();
  assert.equal(device.write("pyramidion:x", { a: 1 }), true);
  assert.deepEqual(device.read("pyramidion:x"), { a: 1 });
  assert.deepEqual(device.names("pyramidion:"), ["pyramidion:x"]);
  storage.kept.word = "off"; // as earlier versions kept it
  assert.equal(device.read("word"), "off");
  storage.refusing = true;
  assert.equal(device.write("pyramidion:y", 1), false);
  assert.equal(device.read("pyramidion:x"), null);
});

test("paths are escaped", () => {
  assert.equal(path`/api/x/${"a/b c"}?of=${"é"}`, "/api/x/a%2Fb%20c?of=%C3%A9");
});

test("errors say what the server said, and whether asking again may help", async () => {
  installPage();
  /** @param {any} reply @param {Partial<ApiError>} wanted */
  const check = async (reply, wanted) => {
    installServer(() => reply);
    const error = await call("POST", "/x", {}).catch((thrown) => thrown);
    assert.ok(error instanceof ApiError);
    for (const [name, value] of Object.entries(wanted)) assert.deepEqual(/** @type {any} */ (error)[name], value);
  };
  const problems = [{ where: "units", what: "is missing" }];
  await check({ status: 422, body: { error: "no", problems } }, { message: "no", problems, unreachable: false });
  await check({ status: 503, body: "busy" }, { message: "The server answered with status 503.", unreachable: true });
  await check({ status: 429, body: {} }, { status: 429, unreachable: true });
  await check({ status: 0 }, { message: "The server cannot be reached.", status: 0, unreachable: true });
  await check({ status: 200, body: "<html>log in here</html>" }, { unreachable: true });
});

test("half characters are mended before they are sent", async () => {
  installPage();
  /** @type {unknown[]} */
  const sent = [];
  installServer(({ body }) => ({ body: sent.push(body) }));
  await call("POST", "/x", { text: "a\ud83d", list: ["👍"] });
  assert.deepEqual(sent, [{ text: "a\ufffd", list: ["👍"] }]);
});

test("a request is made again until it is answered, with waits that grow", async () => {
  const nudge = new EventTarget();
  let tries = 0;
  const answer = await untilAnswered(
    async () => {
      tries += 1;
      if (tries < 3) throw new ApiError("away");
      return "here";
    },
    { nudge, onwait: () => setImmediate(() => nudge.dispatchEvent(new Event("nudge"))) },
  );
  assert.deepEqual([answer, tries], ["here", 3]);
  await assert.rejects(
    untilAnswered(() => Promise.reject(new ApiError("no", { status: 422 }))),
    /no/,
  );
  const [first, second] = waits();
  assert.ok(first >= 0.8 && first <= 1.2 && second >= 1.6 && second <= 2.4);
});
