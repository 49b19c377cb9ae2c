// @ts-check
// The report's first page, and the views that it opens: #topic/ID, #summary/ID/SYSTEM. Every other fragment is a place
// in the overview. In a folder, topics have pages of their own.

import { byId } from "../../server/static/shared/dom.js";
import { address, download, head, openOverview, openTopic } from "./data.js";
import { startMap, startTopics } from "./overview.js";
import { startTables } from "./tables.js";
import { detail, lost, partsOf, showView, viewOf } from "./views.js";

const overview = byId("overview");

/** @param {string[]} parts of the fragment */
async function view(parts) {
  const { topics } = await openOverview();
  const place = topics.findIndex((topic) => topic.id === parts[1]);
  if (place < 0) return null;
  if (head.folder) {
    location.replace(address(topics[place], parts[0], ...parts.slice(2)));
    return null;
  }
  return viewOf(parts, await openTopic(place), { before: topics[place - 1], after: topics[place + 1] });
}

async function route() {
  const hash = location.hash;
  const parts = partsOf(hash);
  const asked = parts[0] === "topic" || parts[0] === "summary";
  const content = asked ? await view(parts) : null;
  if (location.hash !== hash) return; // somebody went on while this was unpacked
  const was = !detail.hidden;
  overview.hidden = Boolean(content);
  if (content) return showView(content);
  detail.hidden = true;
  detail.replaceChildren();
  overview.querySelector(".lost")?.remove();
  if (asked) overview.prepend(lost(parts));
  if (was && parts[0]) document.getElementById(parts[0])?.scrollIntoView({ behavior: "instant" });
}

/** @param {HTMLElement} button */
function choosePanel(button) {
  for (const each of button.parentElement?.children ?? []) each.setAttribute("aria-pressed", String(each === button));
  /** @type {NodeListOf<HTMLElement>} */
  const panels = document.querySelectorAll(".panel");
  for (const panel of panels) panel.hidden = panel.id !== button.dataset.panel;
}

document.addEventListener("click", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.dataset?.file) download(target.dataset.file);
  if (target.dataset?.panel) choosePanel(target);
});
startTables();
addEventListener("hashchange", route);
/** @type {HTMLElement | null} */
const pressed = document.querySelector('.tabs [aria-pressed="true"]');
if (pressed) choosePanel(pressed);
openOverview().then((held) => {
  startMap(held);
  startTopics(held);
  // What was above the place that the address names has grown.
  if (!overview.hidden && location.hash)
    document.getElementById(partsOf(location.hash)[0])?.scrollIntoView({ behavior: "instant" });
});
route();
