// One summary: its text with what it expresses, and what it misses, repeats, or says besides.

function markedText(topic, summary) {
  const pieces = summary.pieces.map(([text, units = [], outside]) => {
    if (!units.length) return outside ? make("mark", {class: "outside", title: "in no unit of the pyramid"}, text) : text;
    const heaviest = Math.max(...units.map((at) => topic.units[at][2]));
    const title = units.map((at) => `(${topic.units[at][2]}) ${topic.units[at][1]}`).join("\n");
    return make("mark", {class: `${tier(heaviest, topic.tiers)}${outside ? " outside" : ""}`, "data-units": units.join(" "), title}, text);
  });
  return make("p", {class: "text", dir: "auto"}, pieces);
}

function key(topic, summary) {
  if (!summary.pieces.some((piece) => piece[1]?.length)) return null;
  const weights = [...new Set(topic.units.map((unit) => unit[2]).filter((weight) => weight !== null))].sort((a, b) => b - a);
  const parts = weights.slice(0, 5).map((weight) => make("span", {}, make("mark", {class: tier(weight, topic.tiers)}, ` weight ${weight}${weight <= topic.tiers - 4 ? " or less" : ""} `)));
  if (summary.pieces.some((piece) => piece[2])) parts.push(make("mark", {class: "outside"}, "in no unit"));
  return make("p", {class: "key"}, parts);
}

function votesOf(summary, place) {
  const found = summary.votes.find(([unit]) => unit === place);
  return found ? `${found[1]} of ${found[2]} judges say it is there` : "";
}

function unitList(topic, summary, places, extra = () => "") {
  const lines = places.map((place) => {
    const unit = topic.units[place];
    const label = make("button", {type: "button", class: "unit", dir: "auto"}, unit[1] || unit[0]);
    label.addEventListener("click", () => light(place));
    const more = [extra(place), votesOf(summary, place)].filter(Boolean).join(" · ");
    return make("li", {"data-unit": place}, weightBadge(unit, topic), label,
      more ? make("span", {class: "more"}, more) : null, make("span", {class: "more"}, wordings(unit)));
  });
  return make("ul", {class: "units"}, lines);
}

function part(title, body, open = true) {
  return make("details", {open}, make("summary", {}, title), body);
}

function contentParts(topic, summary) {
  const times = new Map(summary.expressed);
  const degrees = new Map(summary.degrees);
  const howMuch = (at) => (times.get(at) > 1 ? `${times.get(at)} times` : degrees.get(at) < 1 ? `in part: ${degrees.get(at)}` : "");
  const heaviest = (a, b) => topic.units[b][2] - topic.units[a][2] || a - b;
  const there = [...times.keys()].sort(heaviest);
  const missing = topic.units.map((_, at) => at).filter((at) => !times.has(at) && topic.units[at][2] !== null).sort(heaviest);
  const repeated = there.filter((at) => times.get(at) > 1);
  const weighty = missing.filter((at) => topic.units[at][2] > 1);
  const light = missing.filter((at) => topic.units[at][2] <= 1);
  const split = weighty.length && light.length;
  return [
    part(`${plural(there.length, "unit")} expressed`, unitList(topic, summary, there, howMuch)),
    part(`${plural((split ? weighty : missing).length, "important unit")} missing, heaviest first`, unitList(topic, summary, split ? weighty : missing)),
    split ? part(`${light.length} more missing, in one reference each`, unitList(topic, summary, light), false) : null,
    repeated.length ? part(`${plural(repeated.length, "unit")} said more than once`, unitList(topic, summary, repeated, (at) => `${times.get(at)} times`), false) : null,
    summary.unmatched ? part(`${plural(summary.unmatched, "statement")} in no unit of the pyramid`,
      make("ul", {class: "small"}, summary.quotes.map((quote) => make("li", {dir: "auto"}, `“${quote}”`))), false) : null,
  ];
}

function scoreLine(place, system) {
  const parts = head.measures.map((measure, at) => make("div", {}, make("dt", {}, measure.name), make("dd", {}, shown(head.scores[at][place][system]))));
  return make("dl", {class: "scoreline"}, parts);
}

function annotatorLine(summary) {
  if (!summary.annotators.length) return null;
  const each = summary.annotators.map(([name, value]) => `${shown(value)} by ${name}`).join(", ");
  return make("p", {class: "muted small", dir: "auto"}, `${head.measures[0].name} is the mean of ${summary.annotators.length} annotators: ${each}`);
}

function neighbours(topic, place, system) {
  const held = topic.summaries.map((s) => s.system).sort((a, b) => a - b);
  const at = held.indexOf(system);
  const of = (other, words) => other !== undefined && [fragment("summary", topic.id, head.systems[other]), `${words} ${head.systems[other]}`];
  const next = head.topics[place + 1];
  return [of(held[at - 1], "Ranked above:"), of(held[at + 1], "Ranked below:"), next && [fragment("summary", next.id, head.systems[system]), `On ${next.id}`]];
}

function summaryView(whole, place, summary) {
  const topic = comparedWith(whole, summary);
  const name = head.systems[summary.system];
  const times = new Set(summary.expressed.map(([at]) => at));
  const right = summary.judged && topic.units.length ? make("section", {class: "part"},
    make("h2", {}, "What it says, and what it misses"),
    bigPyramid(topic, (at) => (times.has(at) ? "here" : "absent"), `Pyramid of ${topic.id}: filled blocks are expressed`),
    contentParts(topic, summary)) : make("section", {class: "part"}, make("h2", {}, "Content"), make("p", {class: "muted"}, "Nobody judged this summary unit by unit."));
  return [
    crumbs([["#map", "← Report"], [fragment("topic", topic.id), `Topic ${topic.id}`], ...neighbours(topic, place, summary.system)]),
    make("h1", {dir: "auto", tabindex: -1}, name),
    make("p", {class: "muted", dir: "auto"}, topic.title ? `${topic.id}: ${topic.title}` : topic.id),
    scoreLine(place, summary.system),
    annotatorLine(summary),
    summary.own ? make("p", {class: "says", dir: "auto"}, `This is reference ${summary.own} itself, so it is compared with the other references only.`) : null,
    make("div", {class: "columns"},
      make("section", {class: "part sticky"}, make("h2", {}, "The summary"), markedText(topic, summary), key(topic, summary)), right),
  ];
}
