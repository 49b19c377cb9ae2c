// @ts-check
// The pyramid drawn as tiers, the heaviest on top; the pyramid in small; and finding units in it.

import { byId, calm, el, put, setText, svg } from "../shared/dom.js";
import { plural } from "../shared/format.js";

/** @import { Unit } from "./commands.js" */
/**
 * @typedef {{ id: string, key: string, unit: Unit, node: HTMLElement, button: HTMLButtonElement, weight: HTMLElement,
 *   label: HTMLElement, marks: HTMLElement, note: HTMLElement }} Card what is shown for a unit
 *
 * @typedef {object} TiersOptions
 * @property {number} top the greatest weight
 * @property {(unit: Unit, card: Card) => void} draw fills label, marks and note; called only when the key has changed
 * @property {(unit: Unit) => string} key
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
  /** The one card that Tab gets to. @type {string | null} */
  #roving = null;

  /** @param {HTMLElement} place @param {TiersOptions} options */
  constructor(place, options) {
    this.place = place;
    this.options = options;
    for (let weight = options.top; weight >= 0; weight -= 1) this.#tiers.push(tier(weight));
    put(place, ...this.#tiers.map((made) => made.node));
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
    for (const { node, list } of this.#tiers) {
      node.classList.toggle("a-tier-none", !list.querySelector(":scope > :not([hidden])"));
    }
    return passed;
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
    card.node.append(input);
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
  node.hidden = weight === 0;
  /** @param {number} units */
  const count = (units) => {
    setText(size, units ? plural(units, "unit") : "none");
    if (weight === 0) node.hidden = units === 0;
  };
  count(0);
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

// -- finding units: search, filters, and choosing one for something that needs another unit (merging, moving) --

/** @param {string} text */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/**
 * Whether a text has all the words that are searched for, whatever their accents and capitals.
 * @param {string} text
 * @param {string} search
 */
export function matchesSearch(text, search) {
  const searched = plain(text);
  return plain(search)
    .split(/\s+/)
    .every((term) => searched.includes(term));
}

/**
 * @typedef {object} FinderOptions
 * @property {Tiers} tiers
 * @property {Filter[]} filters
 * @property {(unit: Unit) => string} words what is searched beside label, comment and name
 * @property {(id: string) => void} onEnter Enter in the search field, with the first unit shown
 * @property {() => void} leave
 */

export class Finder {
  /** @type {((id: string | null) => void) | null} */
  #asked = null;

  /** @param {FinderOptions} options */
  constructor({ tiers, filters, words, onEnter, leave }) {
    this.tiers = tiers;
    this.filters = filters;
    this.words = words;
    this.search = /** @type {HTMLInputElement} */ (byId("search"));
    this.select = /** @type {HTMLSelectElement} */ (byId("filter"));
    put(this.select, ...filters.map(({ value, title }) => el("option", { value }, title)));
    this.search.addEventListener("input", () => this.apply());
    this.select.addEventListener("change", () => this.apply());
    this.search.addEventListener("keydown", (event) => {
      const [first] = this.tiers.ids;
      if (event.key === "Enter" && first !== undefined) onEnter(first);
      else if (event.key === "ArrowDown") this.tiers.focus(first);
      else if (event.key === "Escape") {
        this.clear();
        leave();
      } else return;
      event.preventDefault();
    });
    byId("ask-cancel").addEventListener("click", () => this.answer(null));
  }

  focus() {
    this.search.focus();
    this.search.select();
  }

  clear() {
    if (!this.search.value) return;
    this.search.value = "";
    this.apply();
  }

  apply() {
    const search = this.search.value.trim();
    const { test } = this.filters.find(({ value }) => value === this.select.value) ?? this.filters[0];
    /** @param {Unit} unit */
    const text = (unit) => `${unit.label} ${unit.comment} ${unit.id} ${this.words(unit)}`;
    const count = this.tiers.filter((unit) => test(unit) && (!search || matchesSearch(text(unit), search)));
    const all = !search && this.select.value === this.filters[0].value;
    setText(byId("found"), all ? "" : `${count} shown`);
  }

  // -- asking for a unit ---------------------------------------------------------------------------------------

  get asking() {
    return this.#asked !== null;
  }

  /**
   * Let the annotator choose a unit, by mouse or keyboard: its name, or null where they think better of it.
   * @param {string} question
   * @returns {Promise<string | null>}
   */
  ask(question) {
    this.answer(null);
    setText(byId("ask-text"), question);
    byId("ask").hidden = false;
    this.focus();
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  /** @param {string | null} id */
  answer(id) {
    const resolve = this.#asked;
    if (!resolve) return;
    this.#asked = null;
    byId("ask").hidden = true;
    this.clear();
    resolve(id);
  }
}
