// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { Draft, newestDraft, sendUnconfirmed, tidy } from "../../src/pyramidion/server/static/worker/drafts.js";
import { aboutMinutes } from "../../src/pyramidion/server/static/worker/ends.js";
import { progressText } from "../../src/pyramidion/server/static/worker/task.js";
import { contentWords, sources } from "../../src/pyramidion/server/static/worker/write.js";
import { installPage, installServer } from "./page.js";

const ABOUT = { campaign: "c", assignment: "7", task: "t" };

test("the newest draft that holds an answer is restored", () => {
  assert.equal(newestDraft(null, undefined, { at: 3, answer: null }), null);
  assert.deepEqual(newestDraft({ at: 1, answer: "old" }, { at: 2, answer: "new" })?.answer, "new");
  assert.deepEqual(newestDraft({ at: 2, answer: "own" }, { at: 2, answer: "saved" })?.answer, "own");
});

test("a draft is kept on the device at once, and only for its own task", () => {
  const storage = installPage();
  const draft = new Draft({ ...ABOUT, saved: null });
  draft.change({ winner: "first" });
  draft.close();
  const again = new Draft({ ...ABOUT, saved: { at: 1, answer: { winner: "second" } } });
  assert.deepEqual([again.answer, again.key, again.restored], [{ winner: "first" }, draft.key, true]);
  again.close();
  const other = new Draft({ ...ABOUT, task: "another", saved: null });
  assert.deepEqual([other.answer, other.restored, other.key === draft.key], [null, false, false]);
  other.forget();
  assert.deepEqual(storage.kept, {});
});

test("where nothing can be kept, no promise is made", () => {
  installPage().refusing = true;
  const draft = new Draft({ ...ABOUT, saved: null });
  assert.equal(draft.kept, false);
  draft.close();
});

test("what was submitted but never confirmed is sent once the page is opened again", async () => {
  const storage = installPage();
  const draft = new Draft({ ...ABOUT, saved: null });
  draft.close();
  draft.submitting({ winner: "tie" });
  installServer(() => ({ status: 0 }));
  await assert.rejects(sendUnconfirmed("c"), /cannot be reached/);
  /** @type {any[]} */
  const sent = [];
  installServer((request) => ({ body: sent.push(request) }));
  assert.equal(await sendUnconfirmed("another campaign"), 0);
  assert.equal(await sendUnconfirmed("c"), 1);
  assert.deepEqual(sent[0].path, "/api/work/c/7/submit");
  assert.deepEqual(sent[0].body, { key: draft.key, answer: { winner: "tie" } });
  assert.deepEqual(storage.kept, {});
});

test("a submission that is refused becomes a draft again", async () => {
  installPage();
  const draft = new Draft({ ...ABOUT, saved: null });
  draft.close();
  draft.submitting({ winner: "tie" });
  installServer(() => ({ status: 409, body: { error: "too late" } }));
  assert.equal(await sendUnconfirmed("c"), 0);
  assert.equal(await sendUnconfirmed("c"), 0);
  const again = new Draft({ ...ABOUT, saved: null });
  assert.deepEqual(again.answer, { winner: "tie" });
  again.close();
});

test("old drafts are tidied away", () => {
  const storage = installPage();
  const month = 31 * 24 * 3600 * 1000;
  storage.kept["pyramidion:work:c:1"] = JSON.stringify({ opened: Date.now() - month, at: 0 });
  storage.kept["pyramidion:work:c:2"] = JSON.stringify({ opened: Date.now() - month, at: Date.now() });
  tidy();
  assert.deepEqual(Object.keys(storage.kept), ["pyramidion:work:c:2"]);
});

test("a statement comes from the sentences that have its words", () => {
  const sentences = ["Growers are suing the city.", "The harbour froze in January.", "The city froze rents."].map(
    (text) => ({ text, words: contentWords(text) }),
  );
  const found = (/** @type {string} */ statement) => sources(statement, sentences).map(({ text }) => text);
  assert.deepEqual(found("The growers sue the city"), [sentences[0].text]);
  assert.deepEqual(found("In January, the harbour was frozen"), [sentences[1].text]);
  assert.deepEqual(found("Nothing of this sort"), []);
  assert.deepEqual(found(""), []);
});

test("what somebody has done and what is left is said in words", () => {
  assert.deepEqual([0, 29, 61, 119 * 60, 121 * 60].map(aboutMinutes), [
    "less than a minute",
    "less than a minute",
    "about 1 minute",
    "about 119 minutes",
    "about 2 hours",
  ]);
  assert.equal(
    progressText({ done: 0, left: 0, many: false, seconds: 0 }),
    "Your first task, the last one for you at the moment",
  );
  assert.equal(
    progressText({ done: 2, left: 100, many: true, seconds: 300 }),
    "2 tasks done in about 5 minutes, more than 100 more for you after this one",
  );
});
