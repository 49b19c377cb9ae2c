// Dragging with a pointer: words to a unit, a contributor to another unit, a unit to another place.

import { el } from "./manager-dom.js";

const EDGE = 36;

/**
 * Drag from a pointer event on. `target(node, event)` says what the thing under the pointer would take, as
 * {node, mark, drop} or null: `mark` is the class that shows it, `drop` what happens. Escape gives up.
 */
export function drag(start, { shown, target }) {
  const ghost = el("div", { class: "a-ghost", "aria-hidden": "true" }, shown);
  const over = new AbortController();
  const listen = (type, run) => document.addEventListener(type, run, { signal: over.signal, capture: true });
  let aim = null;
  document.body.append(ghost);
  document.documentElement.classList.add("a-dragging");

  const aimAt = (found) => {
    if (aim?.node === found?.node && aim?.mark === found?.mark) return;
    aim?.node.classList.remove(aim.mark);
    found?.node.classList.add(found.mark);
    aim = found;
  };
  const follow = (event) => {
    ghost.style.transform = `translate(${event.clientX + 12}px, ${event.clientY + 12}px)`;
    const under = document.elementFromPoint(event.clientX, event.clientY);
    scrollNear(under, event.clientY);
    aimAt(under && target(under, event));
  };
  const end = (drop) => {
    const taken = aim;
    aimAt(null);
    over.abort();
    ghost.remove();
    document.documentElement.classList.remove("a-dragging");
    if (drop) taken?.drop();
  };
  listen("pointermove", follow);
  listen("pointerup", () => end(true));
  listen("pointercancel", () => end(false));
  listen("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    end(false);
  });
  follow(start);
}

/** Wait whether a pressed pointer moves: then it drags. A click stays a click. */
export function dragFrom(press, begin) {
  const over = new AbortController();
  const listen = (type, run) => document.addEventListener(type, run, { signal: over.signal });
  listen("pointermove", (event) => {
    if (Math.hypot(event.clientX - press.clientX, event.clientY - press.clientY) < 6) return;
    over.abort();
    begin(event);
  });
  listen("pointerup", () => over.abort());
  listen("pointercancel", () => over.abort());
}

function scrollNear(node, y) {
  const frame = node?.closest(".a-tiers");
  if (!frame) return;
  const { top, bottom } = frame.getBoundingClientRect();
  if (y < top + EDGE) frame.scrollBy({ top: -12 });
  else if (y > bottom - EDGE) frame.scrollBy({ top: 12 });
}
