// The pyramid drawn as tiers, the heaviest on top. A card is made once for a unit and touched only where it changes;
// units whose weight changes move to their tier.

import { el, plural, put, setText } from "./manager-dom.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * draw(unit, card): fill card.label, card.marks and card.note; it is called only when key(unit) has changed.
 * hooks: onFocus(id), onClick(id), onHover(id | null), onPress(id, event): a pointer goes down on a card.
 */
export class Tiers {
  #cards = new Map();
  #tiers = new Map();
  #shown = () => true;
  #roving = null;

  constructor(place, { top, draw, key, hooks }) {
    Object.assign(this, { place, draw, key, hooks });
    for (let weight = top; weight >= 0; weight -= 1) this.#tiers.set(weight, tier(weight));
    put(
      place,
      [...this.#tiers.values()].map((made) => made.node),
    );
    place.addEventListener("pointerover", (event) => hooks.onHover(idAt(event.target)));
    place.addEventListener("pointerleave", () => hooks.onHover(null));
    place.addEventListener("focusin", (event) => this.#focused(idAt(event.target)));
    place.addEventListener("click", (event) => event.target.closest(".a-unit") && hooks.onClick(idAt(event.target)));
    place.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && event.target.closest(".a-unit")) hooks.onPress(idAt(event.target), event);
    });
    place.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show these units, in this order within each tier. */
  update(units) {
    const focused = document.activeElement;
    const ids = new Set(units.map((unit) => unit.id));
    for (const [id, card] of [...this.#cards]) {
      if (ids.has(id)) continue;
      card.node.remove();
      this.#cards.delete(id);
    }
    const wanted = new Map([...this.#tiers.keys()].map((weight) => [weight, []]));
    for (const unit of units) {
      const card = this.#cards.get(unit.id) ?? this.#make(unit.id);
      const key = this.key(unit);
      if (card.key !== key) this.#redraw(card, unit, key);
      wanted.get(Math.min(unit.weight, this.#tiers.size - 1)).push(card.node);
    }
    for (const [weight, made] of this.#tiers) {
      arrange(made.list, wanted.get(weight));
      made.count(wanted.get(weight).length);
    }
    if (focused?.isConnected && this.place.contains(focused) && document.activeElement !== focused) focused.focus();
    if (!this.#cards.has(this.#roving)) this.#rove(this.ids[0] ?? null);
  }

  #make(id) {
    const card = {
      id,
      key: null,
      weight: el("span", { class: "a-weight" }),
      label: el("bdi", { class: "a-label" }),
      marks: el("span", { class: "a-marks" }),
      note: el("span", { class: "a-note" }),
    };
    card.button = el(
      "button",
      { type: "button", class: "a-unit", tabindex: "-1" },
      card.weight,
      card.label,
      card.note,
      card.marks,
    );
    card.node = el("li", { class: "a-card", "data-unit": id }, card.button);
    this.#cards.set(id, card);
    return card;
  }

  #redraw(card, unit, key) {
    card.key = key;
    card.unit = unit;
    setText(card.weight, String(unit.weight));
    this.draw(unit, card);
    card.node.hidden = !this.#shown(unit);
  }

  // -- which are shown -----------------------------------------------------------------------------------------

  /** Show only the units that pass; returns how many do. */
  filter(test) {
    this.#shown = test;
    let passed = 0;
    for (const card of this.#cards.values()) {
      const shown = test(card.unit);
      if (card.node.hidden === shown) card.node.hidden = !shown;
      passed += shown;
    }
    for (const { node, list } of this.#tiers.values()) {
      node.classList.toggle("a-tier-none", !list.querySelector(":scope > :not([hidden])"));
    }
    return passed;
  }

  /** The names of the units shown, from the top. */
  get ids() {
    const nodes = [...this.#tiers.values()].flatMap(({ list }) => [...list.children]);
    return nodes.filter((node) => !node.hidden).map((node) => node.dataset.unit);
  }

  // -- marks on cards ------------------------------------------------------------------------------------------

  /** Put a class on these cards, and take it from all others. */
  mark(name, ids) {
    for (const node of [...this.place.getElementsByClassName(name)]) node.classList.remove(name);
    for (const id of ids) this.#cards.get(id)?.node.classList.add(name);
  }

  current(id) {
    this.place.querySelector("[aria-current]")?.removeAttribute("aria-current");
    this.#cards.get(id)?.button.setAttribute("aria-current", "true");
    this.mark("a-current", id === null ? [] : [id]);
    if (this.#cards.has(id)) this.#rove(id);
  }

  /** A unit has got its real name. */
  rename(from, to) {
    const card = this.#cards.get(from);
    if (!card) return;
    this.#cards.delete(from);
    this.#cards.set(to, Object.assign(card, { id: to }));
    card.node.dataset.unit = to;
    if (this.#roving === from) this.#roving = to;
  }

  reveal(id) {
    this.#cards.get(id)?.node.scrollIntoView({ block: "nearest" });
  }

  // -- focus ---------------------------------------------------------------------------------------------------

  focus(id = this.#roving) {
    this.#cards.get(id)?.button.focus();
  }

  #focused(id) {
    if (id === null) return;
    this.#rove(id);
    this.hooks.onFocus(id);
  }

  #rove(id) {
    const [old, card] = [this.#cards.get(this.#roving), this.#cards.get(id)];
    if (old) old.button.tabIndex = -1;
    if (card) card.button.tabIndex = 0;
    this.#roving = id;
  }

  #key(event) {
    const { key } = event;
    if (!event.target.closest(".a-unit") || event.altKey || event.ctrlKey || event.metaKey) return;
    const { ids } = this;
    const at = ids.indexOf(idAt(event.target));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: ids.length - 1, PageDown: at + 8, PageUp: at - 8 }[key];
    if (to === undefined) return;
    event.preventDefault();
    this.focus(ids[Math.min(Math.max(to, 0), ids.length - 1)]);
  }

  // -- labels, in place ----------------------------------------------------------------------------------------

  /** Edit a label where it stands. save(id, text) is called when it has changed; done(id) when a key
   * closed it: then the focus has to go somewhere. */
  edit(id, { save, done }) {
    const card = this.#cards.get(id);
    if (!card || card.node.querySelector("input")) return;
    const input = el("input", { type: "text", class: "a-edit", "aria-label": "Label of the unit", dir: "auto" });
    const before = card.unit.label;
    input.value = before;
    let open = true;
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

const idAt = (node) => node.closest?.("[data-unit]")?.dataset.unit ?? null;

function tier(weight) {
  const size = el("span", { class: "a-tier-size" });
  const list = el("ol", { class: "a-tier-list" });
  const title = weight ? `Weight ${weight}` : "Without words";
  const head = el("h3", { class: "a-tier-head" }, el("span", {}, title), size);
  const node = el("section", { class: "a-tier", "data-weight": weight, "aria-label": title }, head, list);
  node.hidden = weight === 0;
  const count = (units) => {
    setText(size, units ? plural(units, "unit") : "none");
    if (weight === 0) node.hidden = units === 0;
  };
  count(0);
  return { node, list, count };
}

/** Bring the nodes of a list into this order with few moves: usually one, of the card that has changed. */
function arrange(list, wanted) {
  const staying = new Set(wanted);
  const skip = (node) => {
    while (node && !staying.has(node)) node = node.nextElementSibling; // on its way to another tier
    return node;
  };
  let at = skip(list.firstElementChild);
  for (const node of wanted) {
    const after = at && skip(at.nextElementSibling);
    if (node === at) at = after;
    else if (node === after) at = skip(node.nextElementSibling); // it is the one before that has to go
    else move(list, node, at);
  }
}

/** Put a card somewhere else; where the browser can, without losing the focus; so that the eye can follow. */
function move(list, node, before) {
  const from = node.isConnected && !still.matches ? node.getBoundingClientRect() : null;
  if (list.moveBefore && node.isConnected) list.moveBefore(node, before);
  else list.insertBefore(node, before);
  if (!from) return;
  const to = node.getBoundingClientRect();
  const by = `translate(${from.left - to.left}px, ${from.top - to.top}px)`;
  node.animate([{ transform: by }, { transform: "none" }], { duration: 180, easing: "ease-out" });
}
