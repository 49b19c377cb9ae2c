// @ts-check
// The page of one topic in a folder: the topic, or one of its summaries.

import { head } from "./data.js";
import { startTables } from "./tables.js";
import { unpack } from "./parcels.js";
import { lost, partsOf, showView, viewOf } from "./views.js";

/** @import { Topic } from "./data.js" */

/** @type {Promise<Topic>} */
const topic = unpack("topic").then(JSON.parse);

async function route() {
  const hash = location.hash;
  const held = { ...(await topic), page: head.page };
  if (location.hash !== hash) return; // somebody went on while this was unpacked
  const parts = partsOf(hash);
  const asked = parts[0] === "summary" && parts[1] === held.id ? viewOf(parts, held, head) : null;
  const whole = viewOf(["topic", held.id], held, head) ?? [];
  showView(asked ?? (parts[0] === "summary" ? [lost(parts), ...whole] : whole));
}

startTables();
addEventListener("hashchange", route);
route();
