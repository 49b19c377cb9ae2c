// Colours on texts without touching the texts: named highlights over ranges (CSS Custom Highlight API). A text is laid
// out once; whatever is painted on it later costs no layout. A change of one range costs the more, the more there are:
// these are few, and what is drawn for all units is in annotate-shade.js.

/** Lower layers first; what each looks like stands in annotate.css under ::highlight(name). */
const LAYERS = ["marked", "current", "hint", "lit", "flash", "picked", "cursor"];

export class Paint {
  #layers = new Map();

  constructor() {
    LAYERS.forEach((name, priority) => {
      const highlight = new Highlight();
      highlight.priority = priority;
      CSS.highlights.set(name, highlight);
      this.#layers.set(name, { highlight, ranges: new Map() });
    });
  }

  /** Paint these spans (UTF-16) of a text node, and no others of it, in a layer. */
  set(layer, node, spans) {
    const { highlight, ranges } = this.#layers.get(layer);
    for (const range of ranges.get(node) ?? []) highlight.delete(range);
    ranges.delete(node);
    if (!spans.length) return;
    const made = spans.map(
      ([start, end]) =>
        new StaticRange({ startContainer: node, startOffset: start, endContainer: node, endOffset: end }),
    );
    for (const range of made) highlight.add(range);
    ranges.set(node, made);
  }

  clear(layer) {
    const { highlight, ranges } = this.#layers.get(layer);
    if (!ranges.size) return;
    highlight.clear();
    ranges.clear();
  }
}

export const paint = globalThis.Highlight && CSS.highlights ? new Paint() : null;
