// The page's data and its parts. Texts become text nodes only: no function here takes markup.

const head = JSON.parse(document.getElementById("head").textContent);
const overview = document.getElementById("overview");
const detail = document.getElementById("detail");
const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; a child that is no node is text. */
function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

/** A parcel's text: gzip in base64, unpacked once it is asked for. */
async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const opened = new Map();

function openTopic(place) {
  if (!opened.has(place)) opened.set(place, unpack(`topic-${place}`).then(JSON.parse));
  return opened.get(place);
}

function fragment(...parts) {
  return "#" + parts.map(encodeURIComponent).join("/");
}

function shown(value, digits = 3) {
  return value == null ? "–" : value.toFixed(digits);
}

function plural(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** The colour of a weight: the top tier has the first, whatever the number of tiers. */
function tier(weight, tiers) {
  return `t${Math.min(Math.max(tiers - weight, 0) + 1, 5)}`;
}

function step(share) {
  return Math.min(Math.floor(10 * share), 9);
}

// -- downloads -----------------------------------------------------------------------------------------------

async function allTopics() {
  return Promise.all(head.topics.map((_, place) => openTopic(place)));
}

/** A cell no spreadsheet runs as a formula, quoted where it has to be. */
function csvCell(value) {
  const text = String(value ?? "");
  const safe = typeof value === "string" && /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A topic as a summary is compared with it: a summary that is itself a reference has the other references only. */
function comparedWith(topic, summary) {
  if (!summary.own) return topic;
  const units = topic.units.map(([id, label, , held], at) => [id, label, summary.weights[at], held.filter(([name]) => name !== summary.own)]);
  return {...topic, units, tiers: Math.max(...summary.weights, 0)};
}

/** Which unit each summary expresses and how often, with the votes where there were several judges. */
async function unitsTable() {
  const rows = [["topic", "system", "unit", "weight", "label", "times", "degree", "yes", "of"]];
  for (const topic of await allTopics()) {
    for (const summary of topic.summaries) {
      const votes = new Map(summary.votes.map(([unit, ...counts]) => [unit, counts]));
      const degrees = new Map(summary.degrees);
      for (const [place, times] of summary.expressed) {
        const [id, label, weight] = comparedWith(topic, summary).units[place];
        rows.push([topic.id, head.systems[summary.system], id, weight, label, times, degrees.get(place) ?? 1, ...(votes.get(place) ?? [null, null])]);
      }
    }
  }
  return rows.map((row) => row.map(csvCell).join(",") + "\n").join("");
}

const FILES = {
  "scores.csv": () => unpack("file-scores.csv"),
  "units.csv": unitsTable,
  "report.json": async () => JSON.stringify({...head, topics: await allTopics()}, null, 1),
};

async function download(name) {
  const type = name.endsWith(".csv") ? "text/csv" : "application/json";
  const url = URL.createObjectURL(new Blob([await FILES[name]()], {type}));
  make("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
