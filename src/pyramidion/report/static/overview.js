// @ts-check
// What grows with the number of topics: the map of systems and topics, and the list of topics. Both show some topics at
// a time, those that are asked for; the map is walked with arrow keys.

import { byId, button, el, put, svg } from "../../server/static/shared/dom.js";
import { count, plural } from "../../server/static/shared/format.js";
import { address, breakable, head, heatStep, shown } from "./data.js";
import { compareCells, turn } from "./tables.js";

/** @import { Overview, TopicRow } from "./data.js" */

/** How wide a column of the map is with and without numbers, and what its names and means take, in rem. */
const [NUMBER_WIDE, CELL_WIDE] = [4.6, 1.09];
const beside = () => (matchMedia("(max-width: 40rem)").matches ? 13 : 22);
/** Fewer topics side by side are no map. */
const LEAST_COLUMNS = 6;
/** Topics in the list before somebody asks for more, so that what comes after it can be seen; and then at a time. */
const FOLDED = 10;
const ROWS = 100;
/** A tier with more units is drawn as one bar. */
const MOST_BLOCKS = 36;

/**
 * A field that chooses topics, and buttons that turn pages.
 * @param {HTMLElement} place
 * @param {string} label
 * @param {() => unknown} draw
 */
function steering(place, label, draw) {
  const state = { wanted: "", first: 0 };
  const field = el("input", { type: "search" });
  field.addEventListener("input", () => {
    state.wanted = field.value.trim().toLowerCase();
    state.first = 0;
    draw();
  });
  const says = el("output");
  const before = button("Previous", () => go(-1), "small");
  const after = button("Next", () => go(1), "small");
  const pages = el("div.pages", { role: "group", "aria-label": "Turn pages" }, before, after, says);
  let [size, total] = [0, 0];
  /** @param {1 | -1} step */
  function go(step) {
    const first = state.first + step * size;
    if (first < 0 || first >= total) return;
    state.first = first;
    draw();
  }
  /** What of a list is shown. @template Kind @param {Kind[]} list @param {number} most @returns {Kind[]} */
  function page(list, most) {
    [size, total] = [most, list.length];
    const end = Math.min(state.first + size, total);
    const some = end - state.first < total;
    before.setAttribute("aria-disabled", String(state.first === 0));
    after.setAttribute("aria-disabled", String(end === total));
    before.hidden = after.hidden = !some;
    says.value = total
      ? `${some ? `${count(state.first + 1)}–${count(end)} of ` : ""}${plural(total, "topic")}`
      : "no topic";
    return list.slice(state.first, end);
  }
  /** @param {TopicRow} topic */
  const matches = ({ id, title, best }) =>
    `${id} ${title} ${best === null ? "" : head.systems[best]}`.toLowerCase().includes(state.wanted);
  put(place, el("label.filtering", el("span", label), field), pages);
  return { page, matches };
}

// -- the map -------------------------------------------------------------------------------------------------

/** @type {Record<string, [down: number, right: number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** @param {Overview} overview */
export function startMap({ topics, scores, map }) {
  /** @type {HTMLTableElement | null} */
  const heat = document.querySelector("table.heat");
  if (!heat || !map) return;
  const [headings, body] = [/** @type {HTMLTableSectionElement} */ (heat.tHead), heat.tBodies[0]];
  const means = new Map(map.systems);
  const numbers = /** @type {HTMLElement} */ (document.querySelector("button.numbers"));
  const wrap = /** @type {HTMLElement} */ (heat.closest(".table-wrap"));
  /** How many columns of a width fit beside the names, so that nothing is cut off. @param {number} wide in rem */
  const fitting = (wide) => {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    return Math.floor((wrap.clientWidth / rem - beside()) / wide);
  };
  const { page, matches } = steering(byId("map-steer"), "Filter the topics of the map", draw);
  let room = 0;

  function draw() {
    room = Math.max(fitting(CELL_WIDE), LEAST_COLUMNS);
    const found = /** @type {NonNullable<typeof map>} */ (map).topics.filter((at) => matches(topics[at]));
    const columns = page(found, room);
    byId("map-steer").hidden = map?.topics.length === columns.length;
    const wide = columns.length > fitting(NUMBER_WIDE);
    // Systems stay in the order in which somebody has sorted them.
    const sorted = [...body.rows].map((row) => Number(row.dataset.system));
    heat?.classList.toggle("dense", wide);
    numbers.hidden = !wide;
    const names = columns.map((at) =>
      el(
        "th.topic",
        { scope: "col" },
        el("button.sort", { type: "button" }, el("span", { dir: "auto" }, topics[at].id)),
      ),
    );
    put(headings, el("tr", heading("system"), names, heading("mean", "number")));
    put(
      body,
      (sorted.length ? sorted : [...means.keys()]).map((system) => mapRow(system, columns, wide)),
    );
    body.rows[0]?.cells[1]?.setAttribute("tabindex", "0");
  }

  /** @param {number} system @param {number[]} columns @param {boolean} wide */
  function mapRow(system, columns, wide) {
    const mean = means.get(system);
    return el(
      "tr",
      { "data-system": system },
      el("th", { scope: "row", dir: "auto" }, breakable(head.systems[system])),
      columns.map((at) => heatCell(scores[at][system], at, wide)),
      el("td.number", { "data-v": mean ?? "" }, shown(mean)),
    );
  }

  /** @param {number | null} value @param {number} at @param {boolean} wide */
  function heatCell(value, at, wide) {
    if (value === null)
      return el("td.none", { "aria-label": "no score", "data-v": "", "data-topic": at }, wide ? "" : "–");
    const { low, high } = /** @type {NonNullable<typeof map>} */ (map);
    const says = value.toFixed(2);
    const about = { class: `h${heatStep(value, low, high)}`, "data-topic": at };
    return wide
      ? el("td", { ...about, "aria-label": says, "data-v": says })
      : el("td", { ...about, "data-v": value }, says);
  }

  /** The summary that a cell is about, or null. @param {EventTarget | null | undefined} target */
  function summaryAt(target) {
    const cell = target instanceof Element ? target.closest("td") : null;
    const row = cell?.closest("tr");
    if (!cell?.dataset.topic || !row) return null;
    return { cell, row, system: head.systems[Number(row.dataset.system)], topic: topics[Number(cell.dataset.topic)] };
  }

  /** @param {Event} event */
  const open = ({ target }) => {
    const here = summaryAt(target);
    if (here) location.assign(address(here.topic, "summary", here.system));
  };
  /** @param {KeyboardEvent} event */
  const walk = (event) => {
    const here = summaryAt(event.target);
    if (!here) return;
    if (event.key === "Enter") return open(event);
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const next = summaryAt(body.rows[here.row.sectionRowIndex + move[0]]?.cells[here.cell.cellIndex + move[1]]);
    if (!next) return;
    heat.querySelector('td[tabindex="0"]')?.setAttribute("tabindex", "-1");
    next.cell.setAttribute("tabindex", "0");
    next.cell.focus();
  };
  /** @param {Event} event */
  const say = (event) => {
    const here = summaryAt(event.target);
    if (!here) return;
    const value = here.cell.textContent || here.cell.dataset.v || "no score";
    /** @type {HTMLOutputElement} */ (byId("cell-says")).value = `${here.system} on ${here.topic.id}: ${value}`;
  };
  draw();
  addEventListener("resize", () => {
    if (Math.max(fitting(CELL_WIDE), LEAST_COLUMNS) !== room) draw();
  });
  heat.addEventListener("keydown", walk);
  heat.addEventListener("click", open);
  heat.addEventListener("mouseover", say);
  heat.addEventListener("focusin", say);
  numbers.addEventListener("click", () => {
    numbers.textContent = heat.classList.toggle("shown") ? "Hide numbers" : "Show numbers";
  });
}

/** @param {string} name @param {string} [look] */
const heading = (name, look) => el("th", { scope: "col", class: look }, el("button.sort", { type: "button" }, name));

// -- the list of topics --------------------------------------------------------------------------------------

/** @param {Overview} overview */
export function startTopics({ topics }) {
  const table = /** @type {HTMLTableElement} */ (document.querySelector("table.topics"));
  const [headings, body] = [/** @type {HTMLTableSectionElement} */ (table.tHead), table.tBodies[0]];
  const columns = [...headings.rows[0].cells].map(({ dataset, textContent }) => ({
    key: dataset.key ?? "pyramid",
    label: String(textContent),
  }));
  const rows = [...topics];
  let open = false;
  const { page, matches } =
    topics.length > FOLDED
      ? steering(byId("topics-steer"), "Filter topics", draw)
      : { page: (/** @type {TopicRow[]} */ list) => list, matches: () => true };

  function draw() {
    const found = rows.filter(matches);
    put(
      body,
      page(found, open ? ROWS : FOLDED).map((row) => topicRow(row, columns)),
    );
  }

  draw();
  headings.addEventListener("click", ({ target }) => {
    const sorted = target instanceof Element ? target.closest("button.sort")?.closest("th") : null;
    if (!sorted) return;
    const key = String(sorted.dataset.key);
    const sign = turn(sorted, sortValue(rows[0], key));
    rows.sort((a, b) => compareCells(sortValue(a, key), sortValue(b, key), sign));
    draw();
  });
  if (topics.length <= FOLDED) return;
  const all = button(
    "",
    () => {
      open = !open;
      fold();
    },
    "small",
  );
  const fold = () => {
    all.textContent = open
      ? "Show fewer"
      : topics.length > ROWS
        ? `Show ${ROWS} at a time`
        : `Show all ${topics.length}`;
    all.setAttribute("aria-expanded", String(open));
    draw();
  };
  byId("topics-steer").append(all);
  fold();
}

/** @param {TopicRow} row @param {string} key @returns {string | number} */
function sortValue(row, key) {
  if (key === "best") return row.best === null ? "" : head.systems[row.best].toLowerCase();
  const value = /** @type {Record<string, any>} */ (row)[key];
  return typeof value === "string" ? value.toLowerCase() : (value ?? "");
}

/** @param {TopicRow} row @param {{ key: string, label: string }[]} columns */
function topicRow(row, columns) {
  const { id, title, best } = row;
  const link = (/** @type {string} */ href, /** @type {string} */ name) =>
    el("a", { href, dir: "auto" }, breakable(name));
  /** @type {Record<string, () => HTMLElement>} */
  const cells = {
    id: () =>
      el(
        "th",
        { scope: "row" },
        link(address(row, "topic"), id),
        title && el("span.muted.small.title", { dir: "auto" }, title),
      ),
    pyramid: () => el("td.glyph", row.tiers.length ? smallPyramid(row) : "–"),
    units: () => el("td.number", String(row.units)),
    mean: () => el("td.number", shown(row.mean)),
    best: () => el("td", best === null ? "–" : link(address(row, "summary", head.systems[best]), head.systems[best])),
    alpha: () => el("td.number", shown(row.alpha)),
  };
  return el(
    "tr",
    columns.map(({ key, label }) => {
      const cell = cells[key]();
      if (key !== "id" && key !== "pyramid") cell.dataset.label = label;
      return cell;
    }),
  );
}

/** Tiers as rows of blocks, one per unit, coloured by the share of summaries that express it. @param {TopicRow} row */
function smallPyramid({ id, tiers }) {
  const [size, gap, tall] = [10, 2, 12];
  const widest = Math.max(...tiers.map(([, shares]) => Math.min(shares.length, MOST_BLOCKS)));
  const width = widest * (size + gap) - gap;
  const counts = tiers.map(([weight, shares]) => `${shares.length} of weight ${weight}`).join(", ");
  const viewBox = `0 0 ${width} ${tiers.length * (tall + gap) - gap}`;
  const blocks = tiers.flatMap(([, shares], tier) => {
    const y = tier * (tall + gap);
    /** @param {number} x @param {number} wide @param {number} share */
    const block = (x, wide, share) => svg("rect", { x, y, width: wide, height: tall, class: `f${heatStep(share)}` });
    if (shares.length > MOST_BLOCKS) return block(0, width, shares.reduce((a, b) => a + b) / shares.length);
    const start = (width - (shares.length * (size + gap) - gap)) / 2;
    return shares.toSorted((a, b) => b - a).map((share, at) => block(start + at * (size + gap), size, share));
  });
  return svg(
    "svg",
    { viewBox, width, class: "tiers", role: "img", "aria-label": `Pyramid of ${id}: ${counts}` },
    ...blocks,
  );
}
