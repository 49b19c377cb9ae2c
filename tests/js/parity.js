// @ts-check
// The page's side of the parity test: the real Work, whose requests test_parity.py answers. One JSON object per line
// comes in (`op` and its parameters), and one goes out: what the operation gave, what is shown now, new requests.

import { createInterface } from "node:readline";
import { Work } from "../../src/pyramidion/server/static/annotation/work.js";

/** @type {any} */
const page = globalThis;
page.addEventListener = () => {};
page.document = { hidden: true, addEventListener() {}, querySelector: () => null }; // hidden: it does not ask by itself
page.fetch = (/** @type {string} */ path, /** @type {RequestInit} */ { method, body }) =>
  new Promise((resolve) => {
    waiting.push({ path, method, body: body ? JSON.parse(String(body)) : null, resolve });
  });

/** @type {{ path: string, method: string | undefined, body: any, resolve: (response: Response) => void }[]} */
let waiting = [];
/** @type {any} */
let work;
/** @type {{ type: string, reason: string }[]} */
let said = [];
/** Provisional names that have become real ones. @type {[from: string, to: string][]} */
let named = [];

/** @type {Record<string, (given: any) => unknown>} */
const OPERATIONS = {
  start({ state }) {
    [waiting, said] = [[], []];
    work = new Work(state, "me");
    work.on("named", (/** @type {any} */ { from, to }) => named.push([from, to]));
    for (const type of ["refused", "conflict"])
      work.on(type, (/** @type {any} */ { reason }) => said.push({ type, reason }));
    return true;
  },
  do: ({ command }) => work.do(command),
  undo: () => (work.undoable ? work.undo() : false),
  redo: () => (work.redoable ? work.redo() : false),
  answer({ status, body }) {
    waiting.shift()?.resolve(new Response(JSON.stringify(body), { status }));
  },
};

/** Everything that can happen without an answer has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

for await (const line of createInterface({ input: process.stdin })) {
  const { op, ...given } = JSON.parse(line);
  [said, named] = [[], []];
  const result = OPERATIONS[op](given);
  const { pyramid, peer } = work.state; // at once, as an annotator sees it
  for (let i = 0; i < 5; i += 1) await settled();
  const request = waiting.length ? { ...waiting[0], resolve: undefined } : null;
  const now = { pyramid: work.state.pyramid.units, peer: work.state.peer };
  const shown = { pyramid: pyramid.units, peer };
  process.stdout.write(`${JSON.stringify({ result, shown, now, request, said, named })}\n`);
}
