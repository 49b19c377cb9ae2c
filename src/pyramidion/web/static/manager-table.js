// Tables that can be sorted, filtered and updated in place.
//
// An update never moves a row that can be seen: values change where they are, new rows come last, and "Sort again"
// appears when the order would be another one. A table out of sight is simply kept sorted.

import { count, el, name, NONE, plural, put, setText } from "./manager-dom.js";

const narrow = matchMedia("(max-width: 46rem)");

/**
 * columns: [{id, title, value(row), cell(row)?, watch(row)?, kind, header, sortable, first}]
 *   value    what is sorted by; null comes last in both directions
 *   cell     what is shown (default: the value); drawn again only when watch(row) (default: the value) changes
 *   kind     "text", "id", "number", "when", "bar", "wide" or "tools": how wide and where
 *   header   whether it names the row
 *   first    the direction of the first click (default: descending for numbers)
 */
export class DataTable {
  #rows = new Map();
  #drawn = new Map();
  #order = [];
  #shown;
  #onScreen = false;

  /** plain: stays a table on narrow screens too, where the others become blocks. */
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
    Object.assign(this, { columns, key, noun, emptyText: empty, rowClass });
    this.page = narrow.matches && !plain ? Math.min(page, 10) : page;
    this.sort = sort;
    this.matches = () => true;
    this.also = null;
    this.filterText = filter;
    this.#shown = this.page;
    this.heads = columns.map((column) => this.#head(column));
    this.body = el("tbody", { role: "rowgroup" });
    this.table = el(
      "table",
      { class: plain ? "m-table m-plain" : "m-table m-blocks", role: "table" },
      el("caption", { class: "visually-hidden" }, caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, this.heads)),
      this.body,
    );
    this.empty = el("div", { class: "m-empty" });
    this.more = el("div", { class: "m-more" });
    this.again = el("button", { type: "button", class: "button quiet small" }, "Sort again");
    this.again.addEventListener("click", () => this.#resort());
    this.summary = el("span", { class: "m-help", role: "status" });
    const scroll = el("div", { class: "m-scroll" }, this.table);
    this.toolbar = this.#toolbar(caption, toolbar);
    this.node = el("div", { class: "m-tableblock" }, this.toolbar, scroll, this.empty, this.more);
    this.#markSort();
    new IntersectionObserver(([entry]) => (this.#onScreen = entry.isIntersecting)).observe(this.table);
  }

  #toolbar(caption, extra) {
    if (!this.filterText) return null;
    const input = el("input", {
      type: "search",
      class: "m-filter",
      placeholder: "Filter",
      "aria-label": `Filter: ${caption}`,
      autocomplete: "off",
    });
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      this.matches = (row) => {
        const text = this.filterText(row).toLowerCase();
        return words.every((word) => text.includes(word));
      };
      this.#shown = this.page;
      this.#resort();
    });
    return el("div", { class: "m-toolbar" }, input, extra, this.summary, this.again);
  }

  #head(column) {
    const kind = `m-cell-${column.kind ?? "text"}`;
    if (column.sortable === false) {
      const title = column.hideTitle ? el("span", { class: "visually-hidden" }, column.title) : column.title;
      return el("th", { scope: "col", role: "columnheader", class: `${kind} m-unsorted` }, title);
    }
    const button = el("button", { type: "button", class: "m-sort" }, column.title);
    button.addEventListener("click", () => {
      const first = column.first ?? (column.kind === "number" ? "descending" : "ascending");
      const other = first === "ascending" ? "descending" : "ascending";
      const again = this.sort.by === column.id && this.sort.direction === first;
      this.sort = { by: column.id, direction: again ? other : first };
      this.#markSort();
      this.#resort();
    });
    return el("th", { scope: "col", role: "columnheader", class: kind }, button);
  }

  #markSort() {
    this.columns.forEach((column, i) => {
      if (column.id === this.sort.by) this.heads[i].setAttribute("aria-sort", this.sort.direction);
      else this.heads[i].removeAttribute("aria-sort");
    });
  }

  #fits(row) {
    return this.matches(row) && (this.also?.(row) ?? true);
  }

  row(key) {
    return this.#rows.get(key);
  }

  get rows() {
    return [...this.#rows.values()];
  }

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
    const column = this.columns.find(({ id }) => id === this.sort.by);
    const sign = this.sort.direction === "descending" ? -1 : 1;
    const entries = [...this.#rows].filter(([, row]) => this.#fits(row));
    const values = new Map(entries.map(([key, row]) => [key, column.value(row)]));
    return entries.map(([key]) => key).sort((a, b) => compare(values.get(a), values.get(b), sign) || compare(a, b, 1));
  }

  #draw() {
    const wanted = this.#order.slice(0, this.#shown);
    const nodes = wanted.map((key) => this.#tr(key, this.#rows.get(key)));
    nodes.forEach((node, i) => {
      if (this.body.children[i] !== node) this.body.insertBefore(node, this.body.children[i] ?? null);
    });
    while (this.body.children.length > nodes.length) this.body.lastChild.remove();
    for (const key of this.#drawn.keys()) if (!this.#rows.has(key)) this.#drawn.delete(key);
    this.#drawRest(wanted.length);
  }

  #tr(key, row) {
    let drawn = this.#drawn.get(key);
    if (!drawn) {
      const cells = this.columns.map((column) => {
        const [tag, role, scope] = column.header ? ["th", "rowheader", "row"] : ["td", "cell", null];
        const label = column.hideTitle ? null : column.title;
        return el(tag, { role, scope, class: `m-cell-${column.kind ?? "text"}`, "data-label": label });
      });
      drawn = { node: el("tr", { role: "row" }, cells), cells, seen: cells.map(() => undefined) };
      this.#drawn.set(key, drawn);
    }
    this.columns.forEach((column, i) => {
      const seen = JSON.stringify((column.watch ?? column.value)(row)) ?? "";
      if (drawn.seen[i] === seen) return;
      drawn.seen[i] = seen;
      const made = column.cell ? column.cell(row) : show(column.value(row));
      put(drawn.cells[i], el("div", {}, made));
    });
    const wanted = this.rowClass?.(row) ?? "";
    if (drawn.node.className !== wanted) drawn.node.className = wanted;
    return drawn.node;
  }

  #drawRest(drawn) {
    const total = this.#order.length;
    this.table.hidden = total === 0;
    if (this.toolbar) this.toolbar.hidden = this.#rows.size === 0;
    this.empty.hidden = total > 0;
    if (!total) put(this.empty, this.#rows.size ? el("p", {}, `No ${this.noun} matches the filter.`) : this.emptyText);
    const all = this.#rows.size;
    setText(this.summary, total === all ? plural(all, this.noun) : `${count(total)} of ${plural(all, this.noun)}`);
    const left = total - drawn;
    this.more.hidden = left <= 0;
    if (left <= 0) return void (this.moreText = null);
    const text = `Showing ${count(drawn)} of ${count(total)}`;
    if (this.moreText === text) return;
    this.moreText = text;
    const button = (label, number) =>
      el("button", { type: "button", class: "button", onclick: () => this.#showMore(number) }, label);
    put(
      this.more,
      el("span", { class: "m-help" }, text),
      left > this.page && button(`Show ${this.page} more`, this.page),
      button("Show all", Infinity),
    );
  }

  #showMore(number) {
    const before = this.body.children.length;
    this.#shown += number;
    this.#draw();
    const next = this.body.children[before];
    next?.querySelector("button, a")?.focus();
  }
}

function show(value) {
  if (value === null || value === undefined || value === "") return NONE;
  return typeof value === "string" ? name(value) : count(value);
}

const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compare(a, b, sign) {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return noA - noB;
  if (Array.isArray(a)) return a.reduce((found, value, i) => found || compare(value, b[i], sign), 0);
  return sign * (typeof a === "string" ? words.compare(a, b) : a - b);
}
