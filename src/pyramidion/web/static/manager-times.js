// How long answers take: a histogram, its table, the median.

import { byId, count, duration, el, isNumber, put, setText } from "./manager-dom.js";
import { binName, bins, histogram } from "./manager-charts.js";

export class Times {
  #data = null;
  #shown = "";

  constructor(place) {
    this.chart = el("div", { class: "m-chart-place" });
    this.body = el("tbody");
    this.fold = el(
      "details",
      { class: "m-fold" },
      el("summary", {}, "Show as a table"),
      el(
        "table",
        { class: "m-small-table" },
        el("caption", { class: "visually-hidden" }, "How many answers took how long"),
        el(
          "thead",
          {},
          el("tr", {}, el("th", { scope: "col" }, "Time"), el("th", { scope: "col", class: "number" }, "Answers")),
        ),
        this.body,
      ),
    );
    this.empty = el("div", { class: "m-empty" }, el("p", {}, "No times yet: they come with the first answers."));
    put(place, this.empty, this.chart, this.fold);
    new ResizeObserver(() => this.#draw()).observe(this.chart);
  }

  update(data) {
    const seconds = (data.seconds ?? []).filter(isNumber);
    this.#data = { seconds, median: data.median_seconds };
    setText(byId("median"), duration(data.median_seconds));
    setText(byId("median-help"), seconds.length ? range(seconds) : "From taking a task to submitting it.");
    this.empty.hidden = seconds.length > 0;
    this.chart.hidden = this.fold.hidden = seconds.length === 0;
    this.#draw();
  }

  #draw() {
    const width = Math.floor(this.chart.clientWidth);
    if (!this.#data?.seconds.length || !width) return;
    const { seconds, median } = this.#data;
    const shown = `${width} ${median} ${seconds.length} ${seconds.reduce((sum, value) => sum + value, 0)}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const found = bins(seconds, width < 500 ? 12 : 24);
    const label = `Histogram of ${count(seconds.length)} answers by time taken; the median is ${duration(median)}.`;
    put(this.chart, histogram(found, { width, median, label }));
    const row = (bin) =>
      el("tr", {}, el("th", { scope: "row" }, binName(bin)), el("td", { class: "number" }, count(bin.count)));
    put(this.body, found.map(row));
  }
}

function range(seconds) {
  const sorted = [...seconds].sort((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  return `Four in five between ${duration(at(0.1))} and ${duration(at(0.9))}.`;
}
