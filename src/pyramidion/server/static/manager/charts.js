// @ts-check
// Drawings made of SVG elements. Each has its numbers beside it as text, so most are hidden from screen readers.

import { el, svg } from "../shared/dom.js";
import { count, duration, fixed, percent, share } from "../shared/format.js";

/** @typedef {{ from: number, to: number, count: number }} Bin */

/**
 * Parts of a whole as one bar: stackedBar([["done", 0.6], ["busy", 0.1]]).
 * @param {[kind: string, size: number][]} parts
 */
export function stackedBar(parts, className = "m-bar") {
  const box = { viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" };
  const bar = svg("svg", { class: className, ...box });
  let left = 0;
  for (const [kind, size] of parts) {
    const width = Math.max(0, Math.min(100 * size, 100 - left));
    bar.append(svg("rect", { class: `m-fill-${kind}`, x: left, y: 0, width, height: 1 }));
    left += width;
  }
  return bar;
}

/** "12 of 20" with its bar. @param {number} done @param {number} wanted */
export function progress(done, wanted) {
  return el(
    "div.m-progress",
    stackedBar([[done >= wanted && wanted > 0 ? "full" : "done", share(done, wanted)]]),
    el("span.m-progress-text", `${count(done)} of ${count(wanted)}`, el("b", percent(done, wanted))),
  );
}

// -- times ---------------------------------------------------------------------------------------------------

const WIDTHS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

/** Equal bins from 0; the slowest hundredth shares the last, open one. @param {number[]} seconds @returns {Bin[]} */
export function bins(seconds, most = 24) {
  const sorted = seconds.filter((value) => value >= 0).sort((a, b) => a - b);
  if (!sorted.length) return [];
  const usual = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))];
  const width = WIDTHS.find((size) => usual / size < most) ?? Math.ceil(usual / most);
  const closed = Math.floor(usual / width) + 1;
  const usualBins = Array.from({ length: closed }, (_, i) => ({ from: i * width, to: (i + 1) * width, count: 0 }));
  const slow = { from: closed * width, to: Infinity, count: 0 };
  for (const value of sorted) (usualBins[Math.floor(value / width)] ?? slow).count += 1;
  return slow.count ? [...usualBins, slow] : usualBins;
}

/** @param {Bin} bin */
export const binName = ({ from, to }) =>
  to === Infinity ? `${duration(from)} and more` : `${duration(from)} to ${duration(to)}`;

/** @param {Bin[]} parts @param {{ width: number, median: number | null, label: string }} about */
export function histogram(parts, { width, median, label }) {
  const [height, left, right, top, bottom] = [190, 36, 8, 20, 26];
  const step = (width - left - right) / parts.length;
  const highest = Math.max(...parts.map((bin) => bin.count), 1);
  const tick = niceStep(highest / 3);
  /** @param {number} value */
  const y = (value) => height - bottom - ((height - top - bottom) * value) / Math.max(highest, tick);
  const chart = svg("svg", { class: "m-chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  chart.setAttribute("aria-label", label);
  for (let value = 0; value <= highest; value += tick) {
    chart.append(
      svg("line", { class: "m-grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg("text", { class: "m-axis", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, count(value)),
    );
  }
  const every = Math.ceil(64 / step);
  parts.forEach((bin, i) => {
    const x = left + i * step;
    const [gap, size] = [Math.min(2, step / 5), y(0) - y(bin.count)];
    chart.append(
      svg(
        "rect",
        { class: "m-column", x: x + gap / 2, y: y(bin.count), width: Math.max(step - gap, 1), height: size },
        svg("title", {}, `${binName(bin)}: ${count(bin.count)}`),
      ),
    );
    if (i % every === 0 && x < width - 40) {
      chart.append(svg("text", { class: "m-axis", x, y: height - 8 }, duration(bin.from)));
    }
  });
  if (median !== null)
    chart.append(...medianMark(parts[0].to - parts[0].from, median, { left, step, top, base: y(0), width }));
  return chart;
}

/**
 * @param {number} size of a bin, in seconds
 * @param {number} median
 * @param {{ left: number, step: number, top: number, base: number, width: number }} place
 */
function medianMark(size, median, { left, step, top, base, width }) {
  const x = left + (median / size) * step;
  if (!(x <= width)) return [];
  const late = x > width * 0.6;
  const line = { x1: x, x2: x, y1: 4, y2: base };
  return [
    svg("line", { class: "m-median-halo", ...line }),
    svg("line", { class: "m-median", ...line }),
    svg(
      "text",
      { class: "m-axis m-median-text", x: late ? x - 6 : x + 6, y: top - 6, "text-anchor": late ? "end" : "start" },
      `median ${duration(median)}`,
    ),
  ];
}

// -- intervals -----------------------------------------------------------------------------------------------

/** @typedef {{ look: number, score: number, low: number, high: number }} Interval */

/**
 * How an interval shrinks from look to look. All charts of a page have the same scale, from low to high, and room for
 * all looks that were planned.
 * @param {Interval[]} seen
 * @param {{ looks: number, low: number, high: number, label: string }} about
 */
export function intervals(seen, { looks, low, high, label }) {
  const [width, height, left, right, top, bottom] = [200, 110, 34, 8, 8, 18];
  const span = high - low || 1;
  const step = looks > 1 ? (width - left - right - 16) / (looks - 1) : 0;
  /** @param {number} look */
  const x = (look) => left + 8 + (look - 1) * step;
  /** @param {number} value */
  const y = (value) => top + ((height - top - bottom) * (high - value)) / span;
  const chart = svg("svg", { class: "m-chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const value of [low, (low + high) / 2, high]) {
    chart.append(
      svg("line", { class: "m-grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg("text", { class: "m-axis", x: left - 4, y: y(value) + 4, "text-anchor": "end" }, fixed(value)),
    );
  }
  for (const look of looks > 1 ? [1, looks] : [1]) {
    chart.append(svg("text", { class: "m-axis", x: x(look), y: height - 4, "text-anchor": "middle" }, String(look)));
  }
  const [upper, lower] = [
    seen.map((one) => `${x(one.look)},${y(one.high)}`),
    seen.map((one) => `${x(one.look)},${y(one.low)}`),
  ];
  chart.append(svg("polygon", { class: "m-band", points: [...upper, ...lower.reverse()].join(" ") }));
  for (const one of seen) {
    const title = `Look ${one.look}: ${fixed(one.score, 3)} (${fixed(one.low, 3)} to ${fixed(one.high, 3)})`;
    chart.append(
      svg("line", { class: "m-whisker", x1: x(one.look), x2: x(one.look), y1: y(one.low), y2: y(one.high) }),
      svg("circle", { class: "m-point", cx: x(one.look), cy: y(one.score), r: 3.5 }, svg("title", {}, title)),
    );
  }
  return chart;
}

/** 1, 2 or 5 times a power of 10, at least as great as this. @param {number} rough */
export function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const factor = [1, 2, 5].find((each) => each * power >= rough) ?? 10;
  return factor * power;
}
