// One topic: its pyramid drawn large, its units with who expresses them, its summaries, its references.

const MOST_IN_A_ROW = 24;

/** Tiers from the top down; each unit is a block that leads to its line below. `shade(place)` is a block's class. */
function bigPyramid(topic, shade, says) {
  const tiers = new Map();
  topic.units.forEach((unit, place) => {
    if (unit[2] === null) return;
    if (!tiers.has(unit[2])) tiers.set(unit[2], []);
    tiers.get(unit[2]).push(place);
  });
  const rows = [];
  for (const [weight, places] of [...tiers].sort(([a], [b]) => b - a)) {
    for (let at = 0; at < places.length; at += MOST_IN_A_ROW) rows.push([weight, places.slice(at, at + MOST_IN_A_ROW), at]);
  }
  const widest = Math.max(...rows.map(([, places]) => places.length), 1);
  const [size, gap, tall, left] = [16, 3, 18, 22];
  const width = left + widest * (size + gap);
  const svg = draw("svg", {viewBox: `0 -1 ${width + left} ${rows.length * (tall + gap) + 1}`, class: "big-pyramid", role: "group", "aria-label": says});
  rows.forEach(([weight, places, at], row) => {
    const y = row * (tall + gap);
    if (at === 0) svg.append(draw("text", {x: 2, y: y + 13, class: "tick"}, String(weight)));
    const start = left + (width - left - places.length * (size + gap)) / 2;
    places.forEach((place, column) => {
      const rect = draw("rect", {x: start + column * (size + gap), y, width: size, height: tall, rx: 2, class: shade(place)});
      const [, label] = topic.units[place];
      const link = draw("a", {href: `#unit-${place}`, "aria-label": `weight ${weight}: ${label}`}, draw("title", {}, label), rect);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        light(place);
      });
      svg.append(link);
    });
  });
  return svg;
}

/** Point at a unit's line and at its words in the summary. */
function light(place) {
  for (const lit of detail.querySelectorAll(".lit")) lit.classList.remove("lit");
  const line = detail.querySelector(`[data-unit="${place}"]`);
  line?.classList.add("lit");
  line?.scrollIntoView({block: "nearest"});
  const marks = [...detail.querySelectorAll("mark[data-units]")].filter((m) => m.dataset.units.split(" ").includes(String(place)));
  for (const mark of marks) mark.classList.add("lit");
  if (marks.length) marks[0].scrollIntoView({block: "nearest"});
}

function wordings(unit) {
  const held = unit[3].filter(([, text]) => text);
  if (!held.length) return make("span", {dir: "auto"}, `from ${unit[3].map(([name]) => name).join(", ")}`);
  const lines = held.map(([name, text]) => make("li", {dir: "auto"}, make("b", {}, name), `“${text}”`));
  return make("details", {}, make("summary", {}, `${plural(held.length, "reference")} say so`), make("ul", {class: "wordings"}, lines));
}

function weightBadge(unit, topic) {
  return make("span", {class: `weight ${tier(unit[2], topic.tiers)}`, title: `${plural(unit[2], "contributor")} in the references`}, String(unit[2]));
}

function reach(share) {
  return draw("svg", {class: "reach", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true"},
    draw("rect", {class: "all", width: 100, height: 10}), draw("rect", {class: "some", width: 100 * share, height: 10}));
}

function unitLines(topic, judged) {
  const lines = topic.units.map((unit, place) => {
    const who = judged.filter((s) => s.expressed.some(([at]) => at === place)).map((s) => head.systems[s.system]);
    const said = who.length ? `${who.length} of ${judged.length}: ${who.join(", ")}` : `none of ${plural(judged.length, "system")}`;
    return make("li", {"data-unit": place, id: `unit-${place}`},
      weightBadge(unit, topic), make("span", {dir: "auto"}, unit[1] || unit[0]),
      judged.length ? make("span", {class: "more", dir: "auto"}, reach(who.length / judged.length), said) : null,
      make("span", {class: "more"}, wordings(unit)));
  });
  return make("ul", {class: "units"}, lines);
}

function summaryTable(topic, place) {
  const scores = head.scores[0][place];
  const order = topic.summaries.map((s) => s.system).sort((a, b) => (scores[b] ?? -1) - (scores[a] ?? -1));
  const rows = order.map((system) => {
    const found = topic.summaries.find((s) => s.system === system);
    const name = head.systems[system];
    return make("tr", {},
      make("th", {scope: "row"}, make("a", {href: fragment("summary", topic.id, name), dir: "auto"}, name)),
      head.scores.map((held) => make("td", {class: "number", "data-v": held[place][system] ?? ""}, shown(held[place][system]))),
      make("td", {class: "number"}, found.judged ? String(found.expressed.length) : "–"));
  });
  const names = ["system", ...head.measures.map((m) => m.name), "units"];
  const heads = names.map((name, at) => make("th", {scope: "col", class: at ? "number" : false}, make("button", {type: "button", class: "sort"}, name)));
  return make("div", {class: "table-wrap"}, make("table", {class: "sortable"}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)));
}

function topicView(topic, place) {
  const judged = topic.summaries.filter((s) => s.judged);
  const shares = topic.units.map((_, at) => judged.filter((s) => s.expressed.some(([u]) => u === at)).length / (judged.length || 1));
  const around = [place - 1, place + 1].map((at) => head.topics[at]?.id);
  const units = topic.units.length ? make("section", {class: "part"}, make("h2", {}, plural(topic.units.length, "content unit")), unitLines(topic, judged)) : null;
  const pyramid = topic.units.length ? make("section", {class: "part sticky"},
    make("h2", {}, "The pyramid"),
    make("p", {class: "says"}, "Each block is a unit, each row a tier; the number is in how many references it is. Darker: more systems express it."),
    bigPyramid(topic, (at) => `f${step(shares[at])}`, `Pyramid of ${topic.id}`)) : null;
  const references = topic.references.map(([name, text]) =>
    make("details", {}, make("summary", {dir: "auto"}, `Reference ${name}`), make("p", {class: "text", dir: "auto"}, text)));
  return [
    crumbs([["#topics", "← Report"], around[0] != null && [fragment("topic", around[0]), "Previous topic"], around[1] != null && [fragment("topic", around[1]), "Next topic"]]),
    make("h1", {dir: "auto", tabindex: -1}, topic.title || topic.id),
    topic.title ? make("p", {class: "muted", dir: "auto"}, topic.id) : null,
    topic.description ? make("p", {class: "lead", dir: "auto"}, topic.description) : null,
    make("div", {class: "columns"}, pyramid, make("section", {class: "part"}, make("h2", {}, "Summaries"), summaryTable(topic, place))),
    units,
    references.length ? make("section", {class: "part"}, make("h2", {}, "References"), references) : null,
  ];
}

function crumbs(links) {
  return make("nav", {class: "crumbs", "aria-label": "Where to go"}, links.filter(Boolean).map(([href, name]) => make("a", {href, dir: "auto"}, name)));
}
