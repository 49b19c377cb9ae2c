// The pyramid in small: a bar for each tier, as wide as it has units.

import { put, svg } from "./manager-dom.js";

const ROW = 7;

export function drawShape(place, units, top) {
  const counts = Array.from({ length: top }, (_, i) => units.filter((unit) => unit.weight === top - i).length);
  const key = counts.join(" ");
  if (place.dataset.counts === key) return;
  place.dataset.counts = key;
  const most = Math.max(...counts, 1);
  const bars = counts.map((count, i) => {
    const width = Math.max((100 * count) / most, 1.5);
    const title = svg("title", {}, `Weight ${top - i}: ${count}`);
    return svg("rect", { x: 50 - width / 2, y: i * ROW, width, height: ROW - 2, rx: 1 }, title);
  });
  const said = counts.map((count, i) => `${count} of weight ${top - i}`).join(", ");
  const box = { viewBox: `0 0 100 ${top * ROW - 2}`, class: "a-shape", role: "img", "aria-label": `Units: ${said}` };
  put(place, svg("svg", box, bars));
}
