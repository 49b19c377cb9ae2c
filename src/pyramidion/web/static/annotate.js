// The experts' pages. Which one this is stands in <main data-page>.

import { errorBox, get } from "./manager-api.js";
import { byId, el, put } from "./manager-dom.js";
import { paint } from "./annotate-paint.js";

const main = document.querySelector("main");
const EDITORS = {
  pyramid: async () => (await import("./annotate-pyramid.js")).PyramidEditor,
  peer: async () => (await import("./annotate-peer.js")).PeerEditor,
};

async function open() {
  const { page, annotation } = main.dataset;
  if (page === "desk") return (await import("./annotate-desk.js")).openDesk(main);
  if (!paint) throw new Error("This browser is too old to mark words: update it, or use another.");
  if (page === "compare") return (await import("./annotate-compare.js")).openComparison(main);
  const [Kind, state] = await Promise.all([EDITORS[page](), get(`/api/annotate/${annotation}`)]);
  const editor = new Kind(main, state);
  await editor.begin();
  main.dataset.ready = "true";
}

open().catch((error) => {
  put(byId("notices"), error.status === undefined ? el("p", { class: "notice bad" }, error.message) : errorBox(error));
  if (error.status === undefined) throw error;
});
