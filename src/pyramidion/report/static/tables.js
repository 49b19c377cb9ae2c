// Tables sort by their headings and are filtered by what is typed above them; the heat map is walked with arrow keys.

function valueOf(cell) {
  if (!cell) return "";
  const held = cell.dataset.v;
  if (held === undefined) {
    const number = parseFloat(cell.textContent);
    return cell.classList.contains("number") && !Number.isNaN(number) ? number : cell.textContent.trim().toLowerCase();
  }
  return held === "" || Number.isNaN(Number(held)) ? held.toLowerCase() : Number(held);
}

/** Numbers before texts, and what is missing last, in whichever direction. */
function compare(a, b, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return sign * (typeof a === "number" ? a - b : a.localeCompare(b, undefined, {numeric: true}));
}

function sortBy(heading) {
  const table = heading.closest("table");
  const place = [...heading.parentNode.children].indexOf(heading);
  const first = valueOf(table.tBodies[0].rows[0]?.cells[place]);
  const before = heading.getAttribute("aria-sort");
  // Scores are asked for best first, names and ranks in their order.
  const falling = typeof first === "number" && place > 0;
  const down = before ? before === "ascending" : falling;
  for (const each of heading.parentNode.children) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row.cells[place]), row]);
  rows.sort(([a], [b]) => compare(a, b, down ? -1 : 1));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function filter(input) {
  const wanted = input.value.trim().toLowerCase();
  const around = input.closest(".filtering").parentNode;
  for (const row of around.querySelectorAll("table.sortable > tbody > tr")) {
    row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
  }
}

// -- the heat map --------------------------------------------------------------------------------------------

const heat = document.querySelector("table.heat");

function cellAt(cell) {
  const row = cell.parentNode;
  const column = cell.cellIndex - 1;
  const topics = heat.tHead.rows[0].cells;
  return {system: row.cells[0].textContent, topic: topics[column + 1].textContent.trim()};
}

function isSummary(cell) {
  return cell && cell.parentNode.parentNode === heat.tBodies[0] && cell.tagName === "TD" && !cell.classList.contains("number");
}

function say(cell) {
  const {system, topic} = cellAt(cell);
  const value = cell.textContent || cell.dataset.v || "no score";
  document.getElementById("cell-says").value = `${system} on ${topic}: ${value}`;
}

function focusCell(cell) {
  heat.querySelector('td[tabindex="0"]')?.setAttribute("tabindex", "-1");
  cell.setAttribute("tabindex", "0");
  cell.focus();
}

const MOVES = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};

function walk(event) {
  const cell = event.target.closest("td");
  if (!isSummary(cell)) return;
  if (event.key === "Enter") return openCell(cell);
  const move = MOVES[event.key];
  if (!move) return;
  event.preventDefault();
  const row = heat.tBodies[0].rows[cell.parentNode.sectionRowIndex + move[0]];
  const next = row?.cells[cell.cellIndex + move[1]];
  if (isSummary(next)) focusCell(next);
}

function openCell(cell) {
  const {system, topic} = cellAt(cell);
  location.hash = fragment("summary", topic, system);
}

function startHeat() {
  if (!heat) return;
  heat.tBodies[0].rows[0]?.cells[1]?.setAttribute("tabindex", "0");
  heat.addEventListener("keydown", walk);
  heat.addEventListener("click", (event) => isSummary(event.target.closest("td")) && openCell(event.target.closest("td")));
  for (const kind of ["mouseover", "focusin"]) {
    heat.addEventListener(kind, (event) => isSummary(event.target.closest("td")) && say(event.target.closest("td")));
  }
  document.querySelector("button.numbers")?.addEventListener("click", ({target}) => {
    target.textContent = heat.classList.toggle("shown") ? "Hide numbers" : "Show numbers";
  });
}
