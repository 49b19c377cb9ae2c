// Which view is open: #topic/ID and #summary/ID/SYSTEM open one; every other fragment is a place in the overview.

async function view(parts) {
  const [kind, id, system] = parts;
  const place = head.topics.findIndex((topic) => topic.id === id);
  if (place < 0) return null;
  const topic = await openTopic(place);
  if (kind === "topic") return topicView(topic, place);
  const summary = topic.summaries.find((each) => head.systems[each.system] === system);
  return summary ? summaryView(topic, place, summary) : null;
}

function partsOf(hash) {
  try {
    return hash.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return []; // a mistyped %
  }
}

async function route() {
  const hash = location.hash;
  const parts = partsOf(hash);
  const found = parts[0] === "topic" || parts[0] === "summary" ? await view(parts) : null;
  if (location.hash !== hash) return; // somebody went on while this was unpacked
  const was = !detail.hidden;
  overview.hidden = Boolean(found);
  detail.hidden = !found;
  detail.replaceChildren(...(found ?? []).filter(Boolean));
  if (found) {
    scrollTo({top: 0, behavior: "instant"});
    detail.querySelector("h1").focus({preventScroll: true});
  } else if (was && parts[0]) {
    document.getElementById(parts[0])?.scrollIntoView({behavior: "instant"});
  }
}

function choosePanel(button) {
  for (const each of button.parentNode.children) each.setAttribute("aria-pressed", String(each === button));
  for (const panel of document.querySelectorAll(".panel")) panel.hidden = panel.id !== button.dataset.panel;
}

document.addEventListener("click", ({target}) => {
  const sort = target.closest?.(".sort");
  if (sort) sortBy(sort.closest("th"));
  if (target.dataset?.file) download(target.dataset.file);
  if (target.dataset?.panel) choosePanel(target);
});
document.addEventListener("input", ({target}) => target.matches(".filter") && filter(target));
addEventListener("hashchange", route);
const pressed = document.querySelector('.tabs [aria-pressed="true"]');
if (pressed) choosePanel(pressed);
startHeat();
route();
