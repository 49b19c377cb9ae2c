// @ts-check
// One topic, or one summary. Texts become text nodes only.

import { byId, el, put, svg } from "../../server/static/shared/dom.js";
import { plural } from "../../server/static/shared/format.js";
import { address, breakable, comparedWith, heatStep, head, shown } from "./data.js";

/** @import { Child } from "../../server/static/shared/dom.js" */
/** @import { Place, Summary, Topic, Unit } from "./data.js" */
/** @typedef {[href: string, name: string]} Link */
/** @typedef {{ before?: Place | null, after?: Place | null }} Neighbours the topics before and after one */

const MOST_IN_A_ROW = 24;
export const detail = byId("detail");

/**
 * The colour of a weight: the top tier has the first, whatever the number of tiers.
 * @param {number | null} weight @param {number} tiers
 */
const tier = (weight, tiers) => `t${Math.min(Math.max(tiers - Number(weight), 0) + 1, 5)}`;

/** @param {[number, number][]} pairs @param {number} key */
const lookUp = (pairs, key) => pairs.find(([each]) => each === key)?.[1];

// -- pyramids and units --------------------------------------------------------------------------------------

/** The weights that units have, the greatest first. @param {Topic} topic */
const weightsOf = ({ units }) => [...new Set(units.flatMap(([, , weight]) => weight ?? []))].sort((a, b) => b - a);

/**
 * Tiers from the top down; each unit is a block that leads to its line below.
 * @param {Topic} topic
 * @param {(place: number) => string} shade the class of a unit's block
 * @param {string} says
 */
function bigPyramid(topic, shade, says) {
  /** @type {[weight: number, places: number[], at: number][]} */
  const rows = [];
  for (const weight of weightsOf(topic)) {
    const places = topic.units.flatMap((unit, place) => (unit[2] === weight ? place : []));
    for (let at = 0; at < places.length; at += MOST_IN_A_ROW) {
      rows.push([weight, places.slice(at, at + MOST_IN_A_ROW), at]);
    }
  }
  // Few units are not drawn as few large ones.
  const widest = Math.max(...rows.map(([, places]) => places.length), 10);
  const [size, gap, tall, left] = [16, 3, 18, 22];
  const width = left + widest * (size + gap);
  const viewBox = `0 -1 ${width + left} ${rows.length * (tall + gap) + 1}`;
  const drawing = svg("svg", { viewBox, class: "big-pyramid", role: "group", "aria-label": says });
  rows.forEach(([weight, places, at], row) => {
    const y = row * (tall + gap);
    if (at === 0) drawing.append(svg("text", { x: 2, y: y + 13, class: "tick" }, String(weight)));
    const start = left + (width - left - places.length * (size + gap)) / 2;
    places.forEach((place, column) => {
      const x = start + column * (size + gap);
      const rect = svg("rect", { x, y, width: size, height: tall, rx: 2, class: shade(place) });
      const [, label] = topic.units[place];
      const about = { href: `#unit-${place}`, "aria-label": `weight ${weight}: ${label}` };
      const link = svg("a", about, svg("title", label), rect);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        light(place);
      });
      drawing.append(link);
    });
  });
  return drawing;
}

/** Point at a unit's line and at its words in the summary. @param {number} place */
function light(place) {
  for (const lit of detail.querySelectorAll(".lit")) lit.classList.remove("lit");
  const line = detail.querySelector(`[data-unit="${place}"]`);
  line?.classList.add("lit");
  line?.scrollIntoView({ block: "nearest" });
  const marks = [...detail.querySelectorAll(`mark[data-units~="${place}"]`)];
  for (const mark of marks) mark.classList.add("lit");
  marks[0]?.scrollIntoView({ block: "nearest" });
}

/** @param {Unit} unit */
function wordings(unit) {
  const held = unit[3].filter(([, text]) => text);
  if (!held.length) return el("span", { dir: "auto" }, `from ${unit[3].map(([name]) => name).join(", ")}`);
  const lines = held.map(([name, text]) => el("li", { dir: "auto" }, el("b", name), `“${text}”`));
  return el(
    "details",
    el("summary", `${plural(held.length, "reference says", "references say")} so`),
    el("ul.wordings", lines),
  );
}

/** @param {Unit} unit @param {Topic} topic */
function weightBadge([, , weight], { tiers }) {
  const title = `${plural(Number(weight), "contributor")} in the references`;
  return el("span", { class: `weight ${tier(weight, tiers)}`, title }, String(weight));
}

/** @param {number} share */
function reach(share) {
  return svg(
    "svg",
    { class: "reach", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "all", width: 100, height: 10 }),
    svg("rect", { class: "some", width: 100 * share, height: 10 }),
  );
}

/** @param {Topic} topic @param {Summary[]} judged */
function unitLines(topic, judged) {
  const lines = topic.units.map((unit, place) => {
    const who = judged.filter((each) => expresses(each, place)).map((each) => head.systems[each.system]);
    const maybe = judged.filter((each) => each.perhaps.includes(place)).map((each) => head.systems[each.system]);
    const surely = who.length
      ? `${who.length} of ${judged.length}: ${who.join(", ")}`
      : `none of ${plural(judged.length, "system")}`;
    const said = maybe.length ? `${surely}; perhaps ${maybe.join(", ")}` : surely;
    return el(
      "li",
      { "data-unit": place, id: `unit-${place}` },
      weightBadge(unit, topic),
      el("span", { dir: "auto" }, unit[1] || unit[0]),
      judged.length ? el("span.more", { dir: "auto" }, reach(who.length / judged.length), said) : null,
      el("span.more", wordings(unit)),
    );
  });
  return el("ul.units", lines);
}

/** @param {Summary} summary @param {number} place */
const expresses = ({ expressed }, place) => lookUp(expressed, place) !== undefined;

// -- one topic: its pyramid drawn large, its units with who expresses them, its summaries, its references ----

/** @param {Topic} topic */
function summaryTable(topic) {
  /** @param {Summary} summary */
  const score = ({ system }) => topic.scores[0][system] ?? -1;
  const titles = head.measures.map((measure) => measure.title);
  const rows = topic.summaries
    .toSorted((a, b) => score(b) - score(a))
    .map(({ system, judged, expressed }) => {
      const name = head.systems[system];
      const values = topic.scores.map((held) => held[system]);
      return el(
        "tr",
        el("th", { scope: "row" }, el("a", { href: address(topic, "summary", name), dir: "auto" }, breakable(name))),
        values.map((value, at) => el("td.number", { "data-v": value ?? "", "data-label": titles[at] }, shown(value))),
        el("td.number", { "data-label": "units" }, judged ? String(expressed.length) : "–"),
      );
    });
  const names = ["system", ...titles, "units"];
  const heads = names.map((name, at) =>
    el(at ? "th.number" : "th", { scope: "col" }, el("button.sort", { type: "button" }, name)),
  );
  return el("div.table-wrap", el("table.sortable.cards", el("thead", el("tr", heads)), el("tbody", rows)));
}

/** @param {Topic} topic @param {Neighbours} neighbours @returns {Child[]} */
function topicView(topic, { before, after }) {
  const judged = topic.summaries.filter((s) => s.judged);
  /** How dark a unit is, from 0 to 9. @param {number} at */
  const step = (at) => {
    return heatStep(judged.filter((each) => expresses(each, at)).length / (judged.length || 1));
  };
  const says =
    "Each block is a unit, each row a tier; the number is how many references have it. Darker: more systems express it.";
  const units =
    topic.units.length > 0 &&
    el("section.part", el("h2", plural(topic.units.length, "unit")), unitLines(topic, judged));
  const pyramid =
    topic.units.length > 0 &&
    el(
      "section.part.pyramid",
      el("h2", "The pyramid"),
      el("p.says", says),
      bigPyramid(topic, (at) => `f${step(at)}`, `Pyramid of ${topic.id}`),
    );
  const references = topic.references.map(([name, text]) =>
    el("details", el("summary", { dir: "auto" }, `Reference ${name}`), el("p.text", { dir: "auto" }, text)),
  );
  return [
    crumbs(
      [`${head.start ?? ""}#topics`, "← Report"],
      before && [address(before, "topic"), "Previous topic"],
      after && [address(after, "topic"), "Next topic"],
    ),
    el("h1", { dir: "auto", tabindex: -1 }, topic.title || topic.id),
    topic.title && el("p.muted", { dir: "auto" }, topic.id),
    topic.description && el("p.lead", { dir: "auto" }, topic.description),
    el("div.beside", pyramid, el("section.part", el("h2", "Summaries"), summaryTable(topic))),
    units,
    references.length > 0 && el("section.part", el("h2", "References"), references),
  ];
}

/** @param {...(Link | null | undefined)} links */
function crumbs(...links) {
  const places = links.flatMap((link) => (link ? el("a", { href: link[0], dir: "auto" }, link[1]) : []));
  return el("nav.crumbs", { "aria-label": "Where to go" }, places);
}

// -- one summary: its text with what it expresses, and what it misses, repeats, or says besides --------------

/** @param {Topic} topic @param {Summary} summary */
function markedText(topic, summary) {
  const pieces = summary.pieces.map(([text, units = [], outside]) => {
    if (!units.length) return outside ? el("mark.outside", { title: "in no unit of the pyramid" }, text) : text;
    const sure = units.filter((at) => expresses(summary, at));
    const heaviest = Math.max(...sure.map((at) => Number(topic.units[at][2])));
    const perhaps = summary.perhaps.filter((at) => units.includes(at));
    const title = [
      ...sure.map((at) => `(${topic.units[at][2]}) ${topic.units[at][1]}`),
      ...perhaps.map((at) => `(${topic.units[at][2]}) perhaps: ${topic.units[at][1]}`),
    ].join("\n");
    const look = `${sure.length ? tier(heaviest, topic.tiers) : "perhaps"}${outside ? " outside" : ""}`;
    return el("mark", { class: look, "data-units": units.join(" "), title }, text);
  });
  return el("p.text", { dir: "auto" }, pieces);
}

/** What the colours mean. @param {Topic} topic @param {Summary} summary */
function legend(topic, { pieces, perhaps }) {
  if (!pieces.some(([, units]) => units?.length)) return null;
  const parts = weightsOf(topic)
    .slice(0, 5)
    .map((weight) => {
      const words = ` weight ${weight}${weight <= topic.tiers - 4 ? " or less" : ""} `;
      return el("span", el("mark", { class: tier(weight, topic.tiers) }, words));
    });
  const asked = perhaps.length > 0 && el("mark.perhaps", "perhaps");
  return el("p.key", parts, asked, pieces.some(([, , outside]) => outside) && el("mark.outside", "in no unit"));
}

/** @param {Summary} summary @param {number} place */
function votesOf({ votes }, place) {
  const [, yes, of] = votes.find(([unit]) => unit === place) ?? [];
  return of === undefined ? "" : `${yes} of ${of} judges say it is there`;
}

/** @param {Topic} topic @param {Summary} summary @param {number[]} places @param {(place: number) => string} [extra] */
function unitList(topic, summary, places, extra = () => "") {
  const lines = places.map((place) => {
    const unit = topic.units[place];
    const about = { type: "button", dir: "auto", onclick: () => light(place) };
    const label = el("button.unit", about, unit[1] || unit[0]);
    const more = [extra(place), votesOf(summary, place)].filter(Boolean).join(" · ");
    return el(
      "li",
      { "data-unit": place },
      weightBadge(unit, topic),
      label,
      more && el("span.more", more),
      el("span.more", wordings(unit)),
    );
  });
  return el("ul.units", lines);
}

/** @param {string} title @param {Child} body */
const part = (title, body, open = true) => el("details", { open }, el("summary", title), body);

/** @param {Topic} topic @param {Summary} summary @returns {Child[]} */
function contentParts(topic, summary) {
  const times = new Map(summary.expressed);
  /** @param {number} at */
  const weight = (at) => Number(topic.units[at][2]);
  /** @param {number} a @param {number} b */
  const heaviest = (a, b) => weight(b) - weight(a) || a - b;
  /** @param {number} at */
  const repeats = (at) => (times.get(at) ?? 0) > 1;
  /** @param {number} at */
  const howOften = (at) => `${times.get(at)} times`;
  /** @param {number} at */
  const howMuch = (at) => {
    const degree = lookUp(summary.degrees, at);
    const corrected = summary.corrected.includes(at) ? "corrected" : "";
    return [repeats(at) ? howOften(at) : degree ? `degree ${degree}` : "", corrected].filter(Boolean).join(" · ");
  };
  const there = [...times.keys()].sort(heaviest);
  const perhaps = [...summary.perhaps].sort(heaviest);
  /** @param {number} at */
  const isMissing = (at) => !times.has(at) && !summary.perhaps.includes(at) && topic.units[at][2] !== null;
  const missing = [...topic.units.keys()].filter(isMissing).sort(heaviest);
  const repeated = there.filter(repeats);
  const single = missing.filter((at) => weight(at) <= 1);
  const split = single.length > 0 && single.length < missing.length;
  const important = split ? missing.filter((at) => weight(at) > 1) : missing;
  const quotes = summary.quotes.map((quote) => el("li", { dir: "auto" }, `“${quote}”`));
  const titles = {
    there: `${plural(there.length, "unit")} expressed`,
    perhaps: `${plural(perhaps.length, "unit")} perhaps expressed`,
    important: `${plural(important.length, "important unit")} not found, heaviest first`,
    single: `${single.length} more not found, in one reference each`,
    repeated: `${plural(repeated.length, "unit")} said more than once`,
    unmatched: `${plural(summary.unmatched, "passage")} in no unit of the pyramid`,
  };
  return [
    part(titles.there, unitList(topic, summary, there, howMuch)),
    perhaps.length > 0 && part(titles.perhaps, unitList(topic, summary, perhaps, howMuch)),
    part(titles.important, unitList(topic, summary, important, howMuch)),
    split && part(titles.single, unitList(topic, summary, single, howMuch), false),
    repeated.length > 0 && part(titles.repeated, unitList(topic, summary, repeated, howOften), false),
    summary.unmatched > 0 && part(titles.unmatched, el("ul.small", quotes), false),
  ];
}

/** @param {Topic} topic @param {number} system */
function scoreLine(topic, system) {
  const parts = head.measures.map((measure, at) =>
    el("div", el("dt", measure.title), el("dd", shown(topic.scores[at][system]))),
  );
  return el("dl.scoreline", parts);
}

/** @param {Summary} summary */
function annotatorLine({ annotators }) {
  if (!annotators.length) return null;
  const each = annotators.map(([name, value]) => `${shown(value)} by ${name}`).join(", ");
  const line = `${head.measures[0].title} is the mean of ${annotators.length} annotators: ${each}`;
  return el("p.muted.small", { dir: "auto" }, line);
}

/** @param {Topic} topic @param {Place | null | undefined} after @param {number} system @returns {(Link | null | undefined)[]} */
function besides(topic, after, system) {
  const held = topic.summaries.map((each) => each.system).sort((a, b) => a - b);
  const at = held.indexOf(system);
  /** @param {number | undefined} other @param {string} words @returns {Link | undefined} */
  const linkTo = (other, words) =>
    other === undefined
      ? undefined
      : [address(topic, "summary", head.systems[other]), `${words} ${head.systems[other]}`];
  return [
    linkTo(held[at - 1], "Ranked above:"),
    linkTo(held[at + 1], "Ranked below:"),
    after && [address(after, "summary", head.systems[system]), `On ${after.id}`],
  ];
}

/** @param {Topic} whole @param {Neighbours} neighbours @param {Summary} summary @returns {Child[]} */
function summaryView(whole, { after }, summary) {
  const topic = comparedWith(whole, summary);
  const name = head.systems[summary.system];
  const says = `Pyramid of ${topic.id}: filled blocks are expressed, half filled ones perhaps`;
  /** @param {number} at */
  const shade = (at) => (expresses(summary, at) ? "here" : summary.perhaps.includes(at) ? "maybe" : "absent");
  const right =
    summary.judged && topic.units.length
      ? el(
          "section.part",
          el("h2", "What it says, and what it misses"),
          bigPyramid(topic, shade, says),
          contentParts(topic, summary),
        )
      : el("section.part", el("h2", "Content"), el("p.muted", "Nobody judged this summary unit by unit."));
  const own = `This is reference ${summary.own} itself, so it is compared with the other references only.`;
  return [
    crumbs(
      [`${head.start ?? ""}#map`, "← Report"],
      [address(topic, "topic"), `Topic ${topic.id}`],
      ...besides(topic, after, summary.system),
    ),
    el("h1", { dir: "auto", tabindex: -1 }, name),
    el("p.muted", { dir: "auto" }, topic.title ? `${topic.id}: ${topic.title}` : topic.id),
    scoreLine(topic, summary.system),
    annotatorLine(summary),
    summary.own && el("p.says", { dir: "auto" }, own),
    el(
      "div.columns",
      el("section.part.sticky", el("h2", "The summary"), markedText(topic, summary), legend(topic, summary)),
      right,
    ),
  ];
}

/**
 * What a fragment asks for: a topic, or one of its summaries; null for one that is not there.
 * @param {string[]} parts of the fragment
 * @param {Topic} topic
 * @param {Neighbours} neighbours
 */
export function viewOf([kind, , system], topic, neighbours) {
  if (kind === "topic") return topicView(topic, neighbours);
  const summary = topic.summaries.find((each) => head.systems[each.system] === system);
  return summary ? summaryView(topic, neighbours, summary) : null;
}

/** What to say where an address names something that is not in the report. @param {string[]} parts */
export function lost([kind, topic, system]) {
  const what = kind === "summary" ? `no summary of ${topic} by ${system ?? "nobody"}` : `no topic ${topic ?? ""}`;
  return el("p.notice.lost", { role: "status", dir: "auto" }, `There is ${what} in this report.`);
}

/** Show a view and put the focus on its heading. @param {Child[]} content */
export function showView(content) {
  detail.hidden = false;
  put(detail, content);
  scrollTo({ top: 0, behavior: "instant" });
  detail.querySelector("h1")?.focus({ preventScroll: true });
}

/** @param {string} hash */
export function partsOf(hash) {
  try {
    return hash.slice(1).split("/").map(decodeURIComponent);
  } catch {
    return []; // a mistyped %
  }
}
