// @ts-check
// The experts' pages. <main data-page> says which one this is.

import { get } from "../shared/api.js";
import { byId, el, put } from "../shared/dom.js";
import { errorBox } from "../shared/messages.js";
import { canPaint } from "./text.js";

const main = byId("main");

async function open() {
  const { page, annotation } = main.dataset;
  if (page === "desk") return (await import("./desk.js")).openDesk();
  if (!canPaint) throw new Error("This browser is too old to mark words. Update it, or use another one.");
  if (page === "compare") return (await import("./compare.js")).openComparison(main);
  const state = await get(`/api/annotate/${annotation}`);
  const Kind = page === "peer" ? (await import("./peer.js")).PeerEditor : (await import("./pyramid.js")).PyramidEditor;
  await new Kind(main, state).begin();
  main.dataset.ready = "true";
}

open().catch((error) => {
  put(byId("notices"), error.status === undefined ? el("p.notice.bad", error.message) : errorBox(error));
  if (error.status === undefined) throw error;
});
