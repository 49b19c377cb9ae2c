// @ts-check
// A banner on the pages of staff while the server cannot do its work, though it still answers.

import { ApiError, get } from "./api.js";
import { byId, el, put } from "./dom.js";

const EVERY = 20_000;
const ABOUT =
  "Workers are told that the server has a problem; their pages keep what they do and send it when it works again.";
const banner = byId("health");
let shown = "";

/** @param {{ text: string }[]} troubles */
function show(troubles) {
  const text = troubles.map((trouble) => trouble.text).join("; ");
  if (text === shown) return;
  shown = text;
  const says = el("strong", `The server has a problem: ${text}. `);
  put(banner, text && el("p.notice.bad", { role: "alert" }, says, ABOUT));
}

async function check() {
  try {
    await get("/readyz", { timeout: EVERY });
    show([]);
  } catch (error) {
    // Without an answer nothing is known; the page itself says that it is not up to date.
    if (error instanceof ApiError && Array.isArray(error.data?.troubles)) show(error.data.troubles);
  }
}

setInterval(() => document.hidden || check(), EVERY);
check();
