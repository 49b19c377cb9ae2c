// @ts-check
// How the desk looks to this person, remembered on this device: how wide the pyramid is, how high the current unit, how
// large the texts are, how dense everything is, how the texts are laid out.

import { device } from "../shared/device.js";
import { byId } from "../shared/dom.js";
import { announce } from "../shared/messages.js";

/**
 * @typedef {{ side?: number, detail?: number, size?: number, dense?: boolean, layout?: string, tree?: boolean,
 *   suggesting?: boolean }} Remembered shares in percent, the size of texts as a factor
 */

const NAME = "pyramidion:annotate:view";
const OLD_LAYOUT = "pyramidion:annotate:layout";
/**
 * Below this height comfortable cards would leave fewer than 15 units in view: the desk starts dense. Not on a narrow
 * screen, where the page scrolls and fingers need room.
 */
const LOW = "(max-height: 1000px) and (min-width: 60rem)";
const [SMALLEST, LARGEST, STEP] = [0.8, 1.8, 0.1];
const LAYOUTS = ["side", "stacked", "one"];

export class View {
  /** @type {Remembered} */
  #kept = device.read(NAME) ?? {};

  /** @param {HTMLElement} main @param {{ onLayout: (layout: string) => void }} hooks */
  constructor(main, { onLayout }) {
    this.main = main;
    this.onLayout = onLayout;
    const { side, detail, size = 1, dense = matchMedia(LOW).matches } = this.#kept;
    splitter(byId("splitter"), { share: side, least: 25, most: 70, set: (share) => this.#setShare("side", share) });
    splitter(byId("divider"), { share: detail, least: 8, most: 75, set: (share) => this.#setShare("detail", share) });
    this.#setSize(size);
    this.#setDense(dense);
    this.#startLayout();
    for (const button of document.querySelectorAll("[data-size]")) {
      button.addEventListener("click", () => this.resize(Number(/** @type {HTMLElement} */ (button).dataset.size)));
    }
    byId("dense").addEventListener("click", () => this.toggleDense());
  }

  /** @param {Remembered} change */
  #keep(change) {
    this.#kept = { ...this.#kept, ...change };
    device.write(NAME, this.#kept);
  }

  /** Whether suggestions are wanted: they come by themselves next time. */
  get suggesting() {
    return this.#kept.suggesting ?? false;
  }

  set suggesting(suggesting) {
    this.#keep({ suggesting });
  }

  /** Whether the words of all units are shown. */
  get tree() {
    return this.#kept.tree ?? false;
  }

  set tree(tree) {
    this.#keep({ tree });
  }

  /** @param {"side" | "detail"} part @param {number | null} share null: as it comes */
  #setShare(part, share) {
    if (share === null) this.main.style.removeProperty(`--${part}`);
    else this.main.style.setProperty(`--${part}`, `${share}%`);
    this.#keep({ [part]: share ?? undefined });
  }

  /** Texts a step larger (1) or smaller (-1), or as they come (0). @param {number} by */
  resize(by) {
    const size = by ? (this.#kept.size ?? 1) + by * STEP : 1;
    this.#setSize(Math.round(10 * Math.min(Math.max(size, SMALLEST), LARGEST)) / 10);
    announce(`Texts at ${Math.round(100 * (this.#kept.size ?? 1))}%`);
  }

  /** @param {number} size */
  #setSize(size) {
    this.main.style.setProperty("--size", String(size));
    if (size !== (this.#kept.size ?? 1)) this.#keep({ size });
  }

  toggleDense() {
    const dense = byId("dense").getAttribute("aria-pressed") !== "true";
    this.#setDense(dense);
    this.#keep({ dense });
  }

  /** @param {boolean} dense */
  #setDense(dense) {
    document.documentElement.classList.toggle("a-dense", dense);
    byId("dense").setAttribute("aria-pressed", String(dense));
  }

  /** Texts side by side, stacked, or one at a time; a summary is alone and has no choice. */
  #startLayout() {
    const select = /** @type {HTMLSelectElement | null} */ (document.getElementById("layout"));
    if (!select) return;
    const before = this.#kept.layout ?? device.read(OLD_LAYOUT);
    select.value = LAYOUTS.includes(before) ? before : LAYOUTS[0];
    const show = () => {
      byId("texts").dataset.layout = select.value;
      this.onLayout(select.value);
    };
    select.addEventListener("change", () => {
      this.#keep({ layout: select.value });
      show();
    });
    show();
  }
}

/**
 * A bar between two parts, moved with the mouse or with the arrow keys; a double click, or Enter, lets the parts come as
 * they do. The share is of the part after it.
 * @param {HTMLElement} bar
 * @param {{ share: number | undefined, least: number, most: number, set: (share: number | null) => void }} options
 */
function splitter(bar, { share, least, most, set }) {
  const lies = bar.getAttribute("aria-orientation") === "horizontal";
  const frame = /** @type {HTMLElement} */ (bar.parentElement);
  const after = /** @type {HTMLElement} */ (bar.nextElementSibling);
  /** @param {DOMRect} box */
  const length = (box) => (lies ? box.height : box.width);
  const now = () => Math.round((100 * length(after.getBoundingClientRect())) / length(frame.getBoundingClientRect()));
  const tell = () => bar.setAttribute("aria-valuenow", String(Math.min(Math.max(now() || least, least), most)));
  /** @param {number | null} wanted */
  const put = (wanted) => {
    set(wanted === null ? null : Math.round(10 * Math.min(Math.max(wanted, least), most)) / 10);
    tell();
  };
  bar.setAttribute("aria-valuemin", String(least));
  bar.setAttribute("aria-valuemax", String(most));
  if (share !== undefined) put(share);
  new ResizeObserver(tell).observe(after);
  bar.addEventListener("pointerdown", (event) => {
    if (event.button === 0) bar.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  bar.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
    if (!bar.hasPointerCapture(pointerId)) return;
    const { right, bottom, width, height } = frame.getBoundingClientRect();
    put(lies ? (100 * (bottom - clientY)) / height : (100 * (right - clientX)) / width);
  });
  bar.addEventListener("dblclick", () => put(null));
  bar.addEventListener("keydown", (event) => {
    const [less, more] = lies ? ["ArrowDown", "ArrowUp"] : ["ArrowRight", "ArrowLeft"];
    /** @type {Record<string, number | null>} */
    const places = { [less]: now() - 3, [more]: now() + 3, Home: least, End: most, Enter: null };
    if (!(event.key in places) || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    put(places[event.key]);
  });
}
