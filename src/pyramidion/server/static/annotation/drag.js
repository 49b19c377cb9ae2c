// @ts-check
// Dragging with a pointer: words to a unit, a contributor to another unit, a unit to another place.

import { el } from "../shared/dom.js";

const EDGE = 36;

/**
 * @typedef {{ node: Element, mark: string, drop: () => void }}
 *   Target mark: the class that shows it; drop: what happens
 */

/**
 * Drag from a pointer event on. `target` says what the thing under the pointer would take. Escape gives up.
 * @param {PointerEvent} start
 * @param {{ shown: string, target: (node: Element, event: PointerEvent) => Target | null }} about
 */
export function drag(start, { shown, target }) {
  const ghost = el("div.a-ghost", { "aria-hidden": "true" }, shown);
  const over = new AbortController();
  const options = { signal: over.signal, capture: true };
  /** @type {Target | null} */
  let aim = null;
  document.body.append(ghost);
  document.documentElement.classList.add("a-dragging");

  /** @param {Target | null} next */
  const aimAt = (next) => {
    if (aim?.node === next?.node && aim?.mark === next?.mark) return;
    aim?.node.classList.remove(aim.mark);
    next?.node.classList.add(next.mark);
    aim = next;
  };
  /** @param {PointerEvent} event */
  const follow = (event) => {
    ghost.style.transform = `translate(${event.clientX + 12}px, ${event.clientY + 12}px)`;
    const under = document.elementFromPoint(event.clientX, event.clientY);
    scrollNear(under, event.clientY);
    aimAt(under && target(under, event));
  };
  /** @param {boolean} drop */
  const end = (drop) => {
    const taken = aim;
    aimAt(null);
    over.abort();
    ghost.remove();
    document.documentElement.classList.remove("a-dragging");
    if (drop) taken?.drop();
  };
  /** @param {KeyboardEvent} event */
  const giveUp = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    end(false);
  };
  document.addEventListener("pointermove", follow, options);
  document.addEventListener("pointerup", () => end(true), options);
  document.addEventListener("pointercancel", () => end(false), options);
  document.addEventListener("keydown", giveUp, options);
  follow(start);
}

/**
 * Wait whether a pressed pointer moves: then it drags. A click stays a click.
 * @param {PointerEvent} press @param {(move: PointerEvent) => void} begin
 */
export function dragFrom(press, begin) {
  const over = new AbortController();
  const options = { signal: over.signal };
  /** @param {PointerEvent} event */
  const moved = (event) => {
    if (Math.hypot(event.clientX - press.clientX, event.clientY - press.clientY) < 6) return;
    over.abort();
    begin(event);
  };
  document.addEventListener("pointermove", moved, options);
  document.addEventListener("pointerup", () => over.abort(), options);
  document.addEventListener("pointercancel", () => over.abort(), options);
}

/** @param {Element | null} node @param {number} y */
function scrollNear(node, y) {
  const frame = node?.closest(".a-tiers");
  if (!frame) return;
  const { top, bottom } = frame.getBoundingClientRect();
  if (y < top + EDGE) frame.scrollBy({ top: -12 });
  else if (y > bottom - EDGE) frame.scrollBy({ top: 12 });
}
