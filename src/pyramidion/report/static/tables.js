// @ts-check
// Tables sort by their headings and are filtered by what is typed above them.

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

/**
 * Turn a heading around, and say in which direction it now sorts. Scores are asked for best first, names and ranks in
 * their order.
 * @param {HTMLTableCellElement} heading
 * @param {string | number} first what the column begins with
 * @returns {1 | -1}
 */
export function turn(heading, first) {
  const headings = [...(heading.parentElement?.children ?? [])];
  const before = heading.getAttribute("aria-sort");
  const down = before ? before === "ascending" : typeof first === "number" && headings.indexOf(heading) > 0;
  for (const each of headings) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  return down ? -1 : 1;
}

/**
 * Hide the rows that the field above does not ask for; while it is empty, those of a folded table after the first.
 * @param {HTMLTableElement} table
 */
function showRows(table) {
  const place = table.closest(".table-wrap")?.parentElement;
  /** @type {HTMLInputElement | null | undefined} */
  const field = place?.querySelector(":scope > .filtering .filter, :scope > .steer .filter");
  const unfold = place?.querySelector(":scope > .steer .unfold");
  const wanted = field?.value.trim().toLowerCase() ?? "";
  const folded = unfold?.getAttribute("aria-expanded") === "false" && wanted === "";
  const most = folded ? Number(table.dataset.fold) : Number.POSITIVE_INFINITY;
  [...table.tBodies[0].rows].forEach((row, at) => {
    row.hidden = at >= most || !row.textContent?.toLowerCase().includes(wanted);
  });
}

/** @param {HTMLTableCellElement} heading */
function sortBy(heading) {
  const table = heading.closest("table");
  const body = table?.tBodies[0];
  const place = heading.cellIndex;
  if (!body) return;
  const sign = turn(heading, cellValue(body.rows[0]?.cells[place]));
  body.append(
    ...[...body.rows].sort((a, b) => compareCells(cellValue(a.cells[place]), cellValue(b.cells[place]), sign)),
  );
  if (table) showRows(table);
}

/** The table below a field or button. @param {HTMLElement} control @returns {HTMLTableElement | null | undefined} */
const tableBelow = (control) =>
  (control.closest(".steer") ?? control.closest(".filtering"))?.parentElement?.querySelector("table.sortable");

/** Show all rows of a folded table, or only the first again. @param {HTMLElement} control */
function turnFold(control) {
  const open = control.getAttribute("aria-expanded") === "false";
  control.dataset.all ??= String(control.textContent);
  control.textContent = open ? "Show fewer" : control.dataset.all;
  control.setAttribute("aria-expanded", String(open));
  const table = tableBelow(control);
  if (table) showRows(table);
}

/** Tables whose rows are all there; those that show some rows at a time see to themselves. */
export function startTables() {
  document.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const heading = target.closest?.(".sort")?.closest("th");
    if (heading?.closest("table.sortable")) sortBy(heading);
    if (target.matches?.(".unfold")) turnFold(target);
  });
  document.addEventListener("input", (event) => {
    const target = /** @type {HTMLInputElement} */ (event.target);
    const table = target.matches(".filter") && tableBelow(target);
    if (table) showRows(table);
  });
  // Without this script every row is there.
  /** @type {NodeListOf<HTMLElement>} */
  const folds = document.querySelectorAll(".unfold");
  for (const control of folds) {
    control.hidden = false;
    const table = tableBelow(control);
    if (table) showRows(table);
  }
}
