// The shading behind a text: how many units use each stretch, and which words none uses. It changes rarely and has
// hundreds of pieces, which would make every painted range slow to change; so it is drawn, one path for each depth.

import { svg } from "./manager-dom.js";

export const DEEPEST = 4;
const KINDS = [...Array.from({ length: DEEPEST }, (_, i) => `used-${i + 1}`), "idle"];
const round = (number) => Math.round(number * 10) / 10;

export class Shade {
  #spans = new Map();
  #paths = new Map(KINDS.map((kind) => [kind, svg("path", { class: `a-${kind}` })]));

  /** text: whose boxes are drawn; they are drawn again when lines may break elsewhere. */
  constructor(text) {
    this.text = text;
    this.node = svg("svg", { class: "a-shade", "aria-hidden": "true" }, [...this.#paths.values()]);
    new ResizeObserver(() => this.#draw()).observe(text.body);
  }

  /** found: [[start, end, times], ...]; idle: words to point out. */
  set(found, idle) {
    for (let depth = 1; depth <= DEEPEST; depth += 1) {
      this.#spans.set(
        `used-${depth}`,
        found.filter((stretch) => Math.min(stretch[2], DEEPEST) === depth),
      );
    }
    this.#spans.set("idle", idle);
    this.#draw();
  }

  #draw() {
    const { left, top } = this.text.body.getBoundingClientRect();
    const shape = (box) =>
      `M${round(box.left - left)} ${round(box.top - top)}h${round(box.width)}v${round(box.height)}h${-round(box.width)}z`;
    const shapes = [...this.#spans].map(([kind, spans]) => {
      const boxes = spans.flatMap((span) => this.text.boxes(span));
      return [kind, boxes.filter((box) => box.width > 0).map(shape).join("")];
    });
    // first all that is measured, then all that is changed
    for (const [kind, d] of shapes) this.#paths.get(kind).setAttribute("d", d);
  }
}
