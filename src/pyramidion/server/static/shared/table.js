// @ts-check
// Tables that can be sorted, filtered and updated in place.
//
// An update never moves a row that can be seen: values change where they are, new rows come last, and "Sort again"
// appears when the order would be another one. A table out of sight is simply kept sorted.

import { button, el, name, put, setText } from "./dom.js";
import { count, NONE, plural } from "./format.js";

/** @import { Child } from "./dom.js" */
/** @typedef {"ascending" | "descending"} Direction */
/** What is sorted by; null comes last in both directions. @typedef {string | number | null | undefined | unknown[]} Value */
/**
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: any) => Value} value
 * @property {(row: any) => Child} [cell] what is shown (default: the value)
 * @property {(row: any) => unknown} [watch] the cell is drawn again only when this (default: the value) changes
 * @property {"text" | "id" | "number" | "when" | "bar" | "wide" | "rank" | "tools"} [kind] how wide and where
 * @property {boolean} [header] whether it names the row
 * @property {boolean} [sortable]
 * @property {boolean} [hideTitle]
 * @property {Direction} [first] the direction of the first click (default: descending for numbers)
 *
 * @typedef {object} TableOptions
 * @property {string} caption
 * @property {Column[]} columns
 * @property {(row: any) => string | number} key
 * @property {{ by: string, direction: Direction }} sort by the title of a column
 * @property {number} [page] how many rows are shown at once
 * @property {(row: any) => string} [filter] the text that is searched
 * @property {Child} [toolbar]
 * @property {string} [noun]
 * @property {Child} empty what is shown in place of an empty table
 * @property {(row: any) => string} [rowClass]
 * @property {boolean} [plain] stays a table on narrow screens too, where the others become blocks
 */

/**
 * column("Time", (row) => row.seconds, { kind: "number", cell: (row) => duration(row.seconds) })
 * @param {string} title
 * @param {(row: any) => Value} value
 * @param {Omit<Column, "title" | "value">} [options]
 * @returns {Column}
 */
export const column = (title, value, options = {}) => ({ title, value, ...options });

export class DataTable {
  /** @type {Map<string | number, any>} */
  #rows = new Map();
  /** @type {Map<string | number, { node: HTMLElement, cells: HTMLElement[], seen: (string | undefined)[] }>} */
  #drawn = new Map();
  /** @type {(string | number)[]} */
  #order = [];
  #moreText = "";
  #shown;
  #onScreen = false;

  /** @param {TableOptions} options */
  constructor({
    caption,
    columns,
    key,
    sort,
    page = 25,
    filter,
    toolbar,
    noun = "row",
    empty,
    rowClass,
    plain = false,
  }) {
    this.columns = columns;
    this.key = key;
    this.noun = noun;
    this.emptyText = empty;
    this.rowClass = rowClass;
    this.page = matchMedia("(max-width: 46rem)").matches && !plain ? Math.min(page, 10) : page;
    this.sort = sort;
    /** @type {(row: any) => boolean} */
    this.matches = () => true;
    /** @type {((row: any) => boolean) | null} */
    this.also = null;
    this.#shown = this.page;
    this.heads = columns.map((column) => this.#head(column));
    this.body = el("tbody", { role: "rowgroup" });
    this.table = el(
      "table",
      { class: plain ? "m-table m-plain" : "m-table m-blocks", role: "table" },
      el("caption.visually-hidden", caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, this.heads)),
      this.body,
    );
    this.empty = el("div.m-empty");
    this.more = el("div.m-more");
    this.again = button("Sort again", () => this.#resort(), "quiet small");
    this.summary = el("span.m-help", { role: "status" });
    const scroll = el("div.m-scroll", this.table);
    this.toolbar = filter ? this.#toolbar(caption, toolbar, filter) : null;
    this.node = el("div.m-tableblock", this.toolbar, scroll, this.empty, this.more);
    this.#markSort();
    const seen = new IntersectionObserver(([entry]) => {
      this.#onScreen = entry.isIntersecting;
    });
    seen.observe(this.table);
  }

  /** @param {string} caption @param {Child} extra @param {(row: any) => string} textOf */
  #toolbar(caption, extra, textOf) {
    const about = { type: "search", placeholder: "Filter", autocomplete: "off" };
    const input = el("input.m-filter", { ...about, "aria-label": `Filter: ${caption}` });
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      this.matches = (row) => {
        const text = textOf(row).toLowerCase();
        return words.every((word) => text.includes(word));
      };
      this.#shown = this.page;
      this.#resort();
    });
    return el("div.m-toolbar", input, extra, this.summary, this.again);
  }

  /** @param {Column} column */
  #head(column) {
    const kind = `m-cell-${column.kind ?? "text"}`;
    if (column.sortable === false) {
      const title = column.hideTitle ? el("span.visually-hidden", column.title) : column.title;
      return el("th", { scope: "col", role: "columnheader", class: `${kind} m-unsorted` }, title);
    }
    const button = el("button.m-sort", { type: "button" }, column.title);
    button.addEventListener("click", () => {
      const first = column.first ?? (column.kind === "number" ? "descending" : "ascending");
      const other = first === "ascending" ? "descending" : "ascending";
      const again = this.sort.by === column.title && this.sort.direction === first;
      this.sort = { by: column.title, direction: again ? other : first };
      this.#markSort();
      this.#resort();
    });
    return el("th", { scope: "col", role: "columnheader", class: kind }, button);
  }

  #markSort() {
    this.columns.forEach((column, i) => {
      if (column.title === this.sort.by) this.heads[i].setAttribute("aria-sort", this.sort.direction);
      else this.heads[i].removeAttribute("aria-sort");
    });
  }

  /** @param {any} row */
  #fits(row) {
    return this.matches(row) && (this.also?.(row) ?? true);
  }

  /** @param {string | number} key */
  row(key) {
    return this.#rows.get(key);
  }

  /** @param {any[]} rows */
  update(rows) {
    this.#rows = new Map(rows.map((row) => [this.key(row), row]));
    const sorted = this.#sorted();
    if (this.#onScreen && this.#order.length) {
      const known = new Set(this.#order);
      const kept = this.#order.filter((key) => this.#rows.has(key) && this.#fits(this.#rows.get(key)));
      this.#order = [...kept, ...sorted.filter((key) => !known.has(key))];
    } else {
      this.#order = sorted;
    }
    this.again.classList.toggle(
      "m-held",
      this.#order.every((key, i) => key === sorted[i]),
    );
    this.#draw();
  }

  /** `also`, a further test set from outside, has changed. */
  refilter() {
    this.#shown = this.page;
    this.#resort();
  }

  #resort() {
    this.#order = this.#sorted();
    if (this.again === document.activeElement) this.table.querySelector("button")?.focus();
    this.again.classList.add("m-held");
    this.#draw();
  }

  #sorted() {
    const column = this.columns.find(({ title }) => title === this.sort.by);
    const entries = [...this.#rows].filter(([, row]) => this.#fits(row));
    return sortedKeys(
      entries.map(([key, row]) => [key, column?.value(row)]),
      this.sort.direction,
    );
  }

  #draw() {
    const wanted = this.#order.slice(0, this.#shown);
    const nodes = wanted.map((key) => this.#tr(key, this.#rows.get(key)));
    nodes.forEach((node, i) => {
      if (this.body.children[i] !== node) this.body.insertBefore(node, this.body.children[i] ?? null);
    });
    while (this.body.children.length > nodes.length) this.body.lastChild?.remove();
    for (const key of this.#drawn.keys()) if (!this.#rows.has(key)) this.#drawn.delete(key);
    this.#drawRest(wanted.length);
  }

  /** @param {string | number} key @param {any} row */
  #tr(key, row) {
    let drawn = this.#drawn.get(key);
    if (!drawn) {
      const cells = this.columns.map((column) => {
        const [tag, role, scope] = column.header ? ["th", "rowheader", "row"] : ["td", "cell", null];
        const label = column.hideTitle ? null : column.title;
        return el(tag, { role, scope, class: `m-cell-${column.kind ?? "text"}`, "data-label": label });
      });
      drawn = { node: el("tr", { role: "row" }, cells), cells, seen: [] };
      this.#drawn.set(key, drawn);
    }
    const { cells, seen } = drawn;
    this.columns.forEach((column, i) => {
      const watched = JSON.stringify((column.watch ?? column.value)(row)) ?? "";
      if (seen[i] === watched) return;
      seen[i] = watched;
      put(cells[i], el("div", column.cell ? column.cell(row) : show(column.value(row))));
    });
    const wanted = this.rowClass?.(row) ?? "";
    if (drawn.node.className !== wanted) drawn.node.className = wanted;
    return drawn.node;
  }

  /** @param {number} drawn */
  #drawRest(drawn) {
    const total = this.#order.length;
    this.table.hidden = total === 0;
    if (this.toolbar) this.toolbar.hidden = this.#rows.size === 0;
    this.empty.hidden = total > 0;
    if (!total) put(this.empty, this.#rows.size ? el("p", `No ${this.noun} matches the filter.`) : this.emptyText);
    const all = this.#rows.size;
    setText(this.summary, total === all ? plural(all, this.noun) : `${count(total)} of ${plural(all, this.noun)}`);
    const left = total - drawn;
    this.more.hidden = left <= 0;
    if (left <= 0) return;
    const text = `Showing ${count(drawn)} of ${count(total)}`;
    if (this.#moreText === text) return;
    this.#moreText = text;
    /** @param {string} label @param {number} number */
    const more = (label, number) => button(label, () => this.#showMore(number));
    put(
      this.more,
      el("span.m-help", text),
      left > this.page && more(`Show ${this.page} more`, this.page),
      more("Show all", Infinity),
    );
  }

  /** @param {number} number */
  #showMore(number) {
    const before = this.body.children.length;
    this.#shown += number;
    this.#draw();
    /** @type {HTMLElement | null | undefined} */
    const next = this.body.children[before]?.querySelector("button, a");
    next?.focus();
  }
}

/** @param {Value} value */
function show(value) {
  if (value === null || value === undefined || value === "") return NONE;
  return typeof value === "string" ? name(value) : count(value);
}

const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/**
 * The keys of rows in the order of their values; equal ones in the order of their keys.
 * @template {string | number} Key
 * @param {[key: Key, value: Value][]} entries
 * @param {Direction} direction
 */
export function sortedKeys(entries, direction) {
  const sign = direction === "descending" ? -1 : 1;
  const sorted = entries.toSorted(([a, one], [b, other]) => compare(one, other, sign) || compare(a, b, 1));
  return sorted.map(([key]) => key);
}

/** @param {any} a @param {any} b @param {number} sign @returns {number} */
function compare(a, b, sign) {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return Number(noA) - Number(noB);
  if (Array.isArray(a)) return a.reduce((before, value, i) => before || compare(value, b[i], sign), 0);
  return sign * (typeof a === "string" ? words.compare(a, b) : a - b);
}
