// @ts-check
// Tables sort by their headings and are filtered by what is typed above them; the heat map is walked with arrow keys.

import { byId } from "../../server/static/shared/dom.js";

/** @param {HTMLTableCellElement | undefined} cell @returns {string | number} */
function cellValue(cell) {
  if (!cell) return "";
  const held = cell.dataset.v;
  if (held === undefined) {
    const text = String(cell.textContent);
    const number = parseFloat(text);
    return cell.classList.contains("number") && !Number.isNaN(number) ? number : text.trim().toLowerCase();
  }
  return held === "" || Number.isNaN(Number(held)) ? held.toLowerCase() : Number(held);
}

/**
 * Numbers before texts, and what is missing last, in whichever direction.
 * @param {string | number} a
 * @param {string | number} b
 * @param {1 | -1} sign
 */
export function compareCells(a, b, sign) {
  if (a === "" || b === "") return Number(a === "") - Number(b === "");
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  if (typeof a === "string" && typeof b === "string") return sign * a.localeCompare(b, undefined, { numeric: true });
  return typeof a === "number" ? -1 : 1;
}

/** @param {HTMLTableCellElement} heading */
export function sortBy(heading) {
  const body = heading.closest("table")?.tBodies[0];
  const headings = [...(heading.parentElement?.children ?? [])];
  const place = headings.indexOf(heading);
  if (!body) return;
  const first = cellValue(body.rows[0]?.cells[place]);
  const before = heading.getAttribute("aria-sort");
  // Scores are asked for best first, names and ranks in their order.
  const falling = typeof first === "number" && place > 0;
  const down = before ? before === "ascending" : falling;
  for (const each of headings) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...body.rows].sort((a, b) =>
    compareCells(cellValue(a.cells[place]), cellValue(b.cells[place]), down ? -1 : 1),
  );
  body.append(...rows);
}

/** @param {HTMLInputElement} input */
export function filterRows(input) {
  const wanted = input.value.trim().toLowerCase();
  /** @type {NodeListOf<HTMLElement> | undefined} */
  const rows = input.closest(".filtering")?.parentElement?.querySelectorAll("table.sortable > tbody > tr");
  for (const row of rows ?? []) row.hidden = wanted !== "" && !row.textContent?.toLowerCase().includes(wanted);
}

// -- the heat map --------------------------------------------------------------------------------------------

/** @type {Record<string, [down: number, right: number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** @param {(topic: string, system: string) => void} open */
export function startHeat(open) {
  /** @type {HTMLTableElement | null} */
  const heat = document.querySelector("table.heat");
  if (!heat) return;
  const [body, topics] = [heat.tBodies[0], heat.tHead?.rows[0].cells];

  /** The summary that a cell is about, or null. @param {EventTarget | null | undefined} target */
  const at = (target) => {
    const cell = target instanceof Element ? target.closest("td") : null;
    const row = cell?.closest("tr");
    if (!cell || !row || row.parentElement !== body || cell.classList.contains("number")) return null;
    const system = String(row.cells[0].textContent);
    return { cell, row, system, topic: String(topics?.[cell.cellIndex].textContent).trim() };
  };
  /** @param {KeyboardEvent} event */
  const walk = (event) => {
    const here = at(event.target);
    if (!here) return;
    if (event.key === "Enter") return open(here.topic, here.system);
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const next = at(body.rows[here.row.sectionRowIndex + move[0]]?.cells[here.cell.cellIndex + move[1]]);
    if (!next) return;
    heat.querySelector('td[tabindex="0"]')?.setAttribute("tabindex", "-1");
    next.cell.setAttribute("tabindex", "0");
    next.cell.focus();
  };
  /** @param {Event} event */
  const say = (event) => {
    const here = at(event.target);
    if (!here) return;
    const value = here.cell.textContent || here.cell.dataset.v || "no score";
    const place = /** @type {HTMLOutputElement} */ (byId("cell-says"));
    place.value = `${here.system} on ${here.topic}: ${value}`;
  };
  body.rows[0]?.cells[1]?.setAttribute("tabindex", "0");
  heat.addEventListener("keydown", walk);
  heat.addEventListener("click", (event) => {
    const here = at(event.target);
    if (here) open(here.topic, here.system);
  });
  heat.addEventListener("mouseover", say);
  heat.addEventListener("focusin", say);
  const numbers = document.querySelector("button.numbers");
  numbers?.addEventListener("click", () => {
    numbers.textContent = heat.classList.toggle("shown") ? "Hide numbers" : "Show numbers";
  });
}
