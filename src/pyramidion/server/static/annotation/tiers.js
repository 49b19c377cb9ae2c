// @ts-check
// The pyramid drawn as tiers, the heaviest on top, on demand with the words of every unit; and the pyramid in small.

import { calm, el, put, setText, svg } from "../shared/dom.js";
import { plural } from "../shared/format.js";

/** @import { Unit } from "./commands.js" */
/**
 * @typedef {{ id: string, key: string, unit: Unit, node: HTMLElement, button: HTMLButtonElement, weight: HTMLElement,
 *   label: HTMLElement, marks: HTMLElement, note: HTMLElement }} Card what is shown for a unit
 * @typedef {{ from: string, text: string, go?: () => void }} Quote words of a unit, whose they are, and the way there
 *
 * @typedef {object} TiersOptions
 * @property {number} top the greatest weight
 * @property {(unit: Unit, card: Card) => void} draw fills label, marks and note; called only when the key has changed
 * @property {(unit: Unit) => string} key
 * @property {(unit: Unit) => Quote[]} words shown below a card where they are asked for
 * @property {(id: string) => void} onFocus
 * @property {(id: string) => void} onClick
 * @property {(id: string | null) => void} onHover
 * @property {(id: string, event: PointerEvent) => void} onPress a pointer goes down on a card
 *
 * @typedef {{ value: string, title: string, test: (unit: Unit) => boolean }} Filter
 */

/** A card is made once for a unit and touched only where it changes; units whose weight changes move to their tier. */
export class Tiers {
  /** @type {Map<string, Card>} */
  #cards = new Map();
  /** @type {ReturnType<typeof tier>[]} */
  #tiers = [];
  /** @type {(unit: Unit) => boolean} */
  #shown = () => true;
  /** Whether all cards show their words, and which do otherwise. */
  #open = false;
  /** @type {Set<string>} */
  #otherwise = new Set();
  /** The one card that Tab gets to. @type {string | null} */
  #roving = null;

  /** @param {HTMLElement} place @param {TiersOptions} options */
  constructor(place, options) {
    this.place = place;
    this.options = options;
    for (let weight = options.top; weight >= 0; weight -= 1) this.#tiers.push(tier(weight));
    this.empty = el("p.a-empty.muted", { hidden: true });
    put(place, this.empty, ...this.#tiers.map((made) => made.node));
    place.addEventListener("pointerover", (event) => options.onHover(idAt(event.target)));
    place.addEventListener("pointerleave", () => options.onHover(null));
    place.addEventListener("focusin", (event) => this.#focused(idAt(event.target)));
    place.addEventListener("click", (event) => {
      const id = buttonAt(event.target);
      if (id !== null) options.onClick(id);
    });
    place.addEventListener("pointerdown", (event) => {
      const id = buttonAt(event.target);
      if (event.button === 0 && id !== null) options.onPress(id, event);
    });
    place.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show these units, in this order within each tier. @param {Unit[]} units */
  update(units) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const ids = new Set(units.map((unit) => unit.id));
    for (const [id, card] of [...this.#cards]) {
      if (ids.has(id)) continue;
      card.node.remove();
      this.#cards.delete(id);
    }
    /** @type {HTMLElement[][]} */
    const wanted = this.#tiers.map(() => []);
    for (const unit of units) {
      const card = this.#cards.get(unit.id) ?? this.#make(unit);
      const key = this.options.key(unit);
      if (card.key !== key) this.#redraw(card, unit, key);
      wanted[Math.max(this.options.top - unit.weight, 0)].push(card.node);
    }
    this.#tiers.forEach((made, i) => {
      if (wanted[i].length) made.node.hidden = false; // what is hidden cannot keep the focus
      arrange(made.list, wanted[i]);
      made.count(wanted[i].length);
    });
    if (focused?.isConnected && this.place.contains(focused) && document.activeElement !== focused) focused.focus();
    if (!this.#cards.has(this.#roving ?? "")) this.#rove(this.ids[0] ?? null);
  }

  /** @param {Unit} unit @returns {Card} */
  #make(unit) {
    const [weight, label] = [el("span.a-weight"), el("bdi.a-label")];
    const [note, marks] = [el("span.a-note"), el("span.a-marks")];
    const button = el("button.a-unit", { type: "button", tabindex: "-1" }, weight, label, note, marks);
    const node = el("li.a-card", { "data-unit": unit.id }, button);
    const card = { id: unit.id, key: "", unit, node, button, weight, label, marks, note };
    this.#cards.set(unit.id, card);
    return card;
  }

  /** @param {Card} card @param {Unit} unit @param {string} key */
  #redraw(card, unit, key) {
    card.key = key;
    card.unit = unit;
    setText(card.weight, String(unit.weight));
    this.options.draw(unit, card);
    card.node.hidden = !this.#shown(unit);
    this.#drawWords(card);
  }

  // -- the words of units, as a tree ---------------------------------------------------------------------------

  /** Show the words of all units, or of none. @param {boolean} open */
  openAll(open) {
    this.#open = open;
    this.#otherwise.clear();
    this.redrawWords();
  }

  /** What the words are, or where they are, has changed. */
  redrawWords() {
    for (const card of this.#cards.values()) this.#drawWords(card);
  }

  /** Show or hide the words of one unit. @param {string} id @param {boolean} open */
  open(id, open) {
    const card = this.#cards.get(id);
    this.#otherwise[open === this.#open ? "delete" : "add"](id);
    if (card) this.#drawWords(card);
  }

  /** @param {Card} card */
  #drawWords({ id, unit, node }) {
    node.querySelector(":scope > .a-tree")?.remove();
    if (this.#open === this.#otherwise.has(id)) return;
    const items = this.options.words(unit).map(({ from, text, go }) => {
      const about = { type: "button", tabindex: "-1", title: "Go to these words", onclick: go };
      const words = el("bdi", text || "(no place given)");
      return el("li", el("bdi.a-from", from), go ? el("button.a-quote", about, words) : el("span.a-quote", words));
    });
    const none = el("li.muted", "no words");
    node.append(el("ul.a-tree", { "aria-label": "Contributors" }, items.length ? items : none));
  }

  // -- which are shown -----------------------------------------------------------------------------------------

  /** Show only the units that pass; returns how many do. @param {(unit: Unit) => boolean} test */
  filter(test) {
    this.#shown = test;
    let passed = 0;
    for (const card of this.#cards.values()) {
      const shown = test(card.unit);
      if (card.node.hidden === shown) card.node.hidden = !shown;
      if (shown) passed += 1;
    }
    for (const { node, list } of this.#tiers) node.hidden = !list.querySelector(":scope > :not([hidden])");
    return passed;
  }

  /** Say why no unit is shown; "" where some are. @param {string} reason */
  say(reason) {
    setText(this.empty, reason);
    this.empty.hidden = !reason;
  }

  /** The names of the units shown, from the top. */
  get ids() {
    const nodes = /** @type {HTMLElement[]} */ (this.#tiers.flatMap(({ list }) => [...list.children]));
    return nodes.filter((node) => !node.hidden).map((node) => String(node.dataset.unit));
  }

  // -- marks on cards ------------------------------------------------------------------------------------------

  /** Put a class on these cards, and take it from all others. @param {string} name @param {string[]} ids */
  mark(name, ids) {
    for (const node of [...this.place.getElementsByClassName(name)]) node.classList.remove(name);
    for (const id of ids) this.#cards.get(id)?.node.classList.add(name);
  }

  /** The hue that a unit's words have in the texts. @param {Map<string, number>} hues */
  colour(hues) {
    for (const [id, { node }] of this.#cards) {
      const hue = hues.get(id);
      if (hue === undefined) delete node.dataset.hue;
      else node.dataset.hue = String(hue);
    }
  }

  /** @param {string | null} id */
  current(id) {
    this.place.querySelector("[aria-current]")?.removeAttribute("aria-current");
    this.mark("a-current", id === null ? [] : [id]);
    const card = this.#cards.get(id ?? "");
    if (!card) return;
    card.button.setAttribute("aria-current", "true");
    this.#rove(card.id);
  }

  /** A unit has got its real name. @param {string} from @param {string} to */
  rename(from, to) {
    const card = this.#cards.get(from);
    if (!card) return;
    this.#cards.delete(from);
    this.#cards.set(to, Object.assign(card, { id: to }));
    card.node.dataset.unit = to;
    if (this.#roving === from) this.#roving = to;
    if (this.#otherwise.delete(from)) this.#otherwise.add(to);
  }

  /** @param {string | null} id */
  reveal(id) {
    this.#cards.get(id ?? "")?.node.scrollIntoView({ block: "nearest" });
  }

  // -- focus ---------------------------------------------------------------------------------------------------

  /** @param {string | null} [id] */
  focus(id = this.#roving) {
    this.#cards.get(id ?? "")?.button.focus();
  }

  /** @param {string | null} id */
  #focused(id) {
    if (id === null) return;
    this.#rove(id);
    this.options.onFocus(id);
  }

  /** @param {string | null} id */
  #rove(id) {
    const [old, card] = [this.#cards.get(this.#roving ?? ""), this.#cards.get(id ?? "")];
    if (old) old.button.tabIndex = -1;
    if (card) card.button.tabIndex = 0;
    this.#roving = id;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const id = buttonAt(event.target);
    if (id === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      event.preventDefault();
      return this.open(id, event.key === "ArrowRight");
    }
    const { ids } = this;
    const at = ids.indexOf(id);
    /** @type {Record<string, number>} */
    const places = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: ids.length - 1,
      PageDown: at + 8,
      PageUp: at - 8,
    };
    const to = places[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.focus(ids[Math.min(Math.max(to, 0), ids.length - 1)]);
  }

  // -- labels, in place ----------------------------------------------------------------------------------------

  /**
   * Edit a label in its place.
   * @param {string} id
   * @param {{ save: (id: string, label: string) => void, done: (id: string) => void }} hooks save: when it has changed;
   *   done: when a key closed it, so that the focus has to go somewhere
   */
  edit(id, { save, done }) {
    const card = this.#cards.get(id);
    if (!card || card.node.querySelector("input")) return;
    const input = el("input.a-edit", { type: "text", "aria-label": "Label of the unit", dir: "auto" });
    const before = card.unit.label;
    input.value = before;
    let open = true;
    /** @param {boolean} keep */
    const close = (keep, back = true) => {
      if (!open) return; // removing the field takes the focus from it, which would close it again
      open = false;
      const text = input.value.trim();
      card.button.hidden = false;
      input.remove();
      if (keep && text !== before) save(card.id, text);
      if (back) done(card.id);
    };
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter" || event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        close(event.key === "Enter");
      }
    });
    input.addEventListener("blur", () => close(true, false)); // whoever goes elsewhere stays there
    card.button.after(input);
    card.button.hidden = true;
    card.node.scrollIntoView({ block: "nearest" });
    input.select();
    input.focus();
  }
}

/** @param {EventTarget | null} node @returns {string | null} */
const idAt = (node) => /** @type {Element} */ (node).closest?.("[data-unit]")?.getAttribute("data-unit") ?? null;

/** The unit whose button this is or is in. @param {EventTarget | null} node */
const buttonAt = (node) => (/** @type {Element} */ (node).closest?.(".a-unit") ? idAt(node) : null);

/** @param {number} weight */
function tier(weight) {
  const size = el("span.a-tier-size");
  const list = el("ol.a-tier-list");
  const title = weight ? `Weight ${weight}` : "Without words";
  const head = el("h3.a-tier-head", el("span", title), size);
  const node = el("section.a-tier", { "data-weight": weight, "aria-label": title }, head, list);
  node.hidden = true; // an empty tier is an empty list to whoever hears the page, and room lost to whoever sees it
  /** @param {number} units */
  const count = (units) => setText(size, plural(units, "unit"));
  return { node, list, count };
}

/**
 * Bring the nodes of a list into this order with few moves: usually one, of the card that has changed.
 * @param {HTMLElement} list @param {Element[]} wanted
 */
function arrange(list, wanted) {
  const staying = new Set(wanted);
  /** @param {Element | null} node */
  const skip = (node) => {
    let next = node;
    while (next && !staying.has(next)) next = next.nextElementSibling; // on its way to another tier
    return next;
  };
  let at = skip(list.firstElementChild);
  for (const node of wanted) {
    const after = at && skip(at.nextElementSibling);
    if (node === at) at = after;
    else if (node === after)
      at = skip(node.nextElementSibling); // it is the one before that has to go
    else move(list, node, at);
  }
}

/**
 * Put a card somewhere else; where the browser can, without losing the focus; so that the eye can follow.
 * @param {HTMLElement & { moveBefore?: (node: Element, before: Element | null) => void }} list
 * @param {Element} node
 * @param {Element | null} before
 */
function move(list, node, before) {
  const from = node.isConnected && !calm() ? node.getBoundingClientRect() : null;
  if (list.moveBefore && node.isConnected) list.moveBefore(node, before);
  else list.insertBefore(node, before);
  if (!from) return;
  const to = node.getBoundingClientRect();
  const by = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
  node.animate([{ transform: by }, { transform: "none" }], { duration: 180, easing: "ease-out" });
}

const ROW = 7;

/**
 * The pyramid in small: a bar for each tier, as wide as it has units.
 * @param {HTMLElement} place @param {Unit[]} units @param {number} top
 */
export function drawShape(place, units, top) {
  const counts = Array.from({ length: top }, (_, i) => units.filter((unit) => unit.weight === top - i).length);
  const key = counts.join(" ");
  if (place.dataset.counts === key) return;
  place.dataset.counts = key;
  const most = Math.max(...counts, 1);
  const bars = counts.map((count, i) => {
    const width = Math.max((100 * count) / most, 1.5);
    const title = svg("title", `Weight ${top - i}: ${count}`);
    return svg("rect", { x: 50 - width / 2, y: i * ROW, width, height: ROW - 2, rx: 1 }, title);
  });
  const said = counts.map((count, i) => `${count} of weight ${top - i}`).join(", ");
  const box = { viewBox: `0 0 100 ${top * ROW - 2}`, class: "a-shape", role: "img", "aria-label": `Units: ${said}` };
  put(place, svg("svg", box, bars));
}
