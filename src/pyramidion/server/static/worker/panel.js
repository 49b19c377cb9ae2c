// @ts-check
// Texts to read beside the work: a column on wide screens, on phones a panel at the top that can be folded away.

import { el, setText, uniqueId, written } from "../shared/dom.js";

/**
 * @param {string} title
 * @param {[title: string, text: string | HTMLElement][]} texts
 * @param {{ sticky?: boolean, extra?: HTMLElement | null }} [options] extra: stays in view above the texts
 */
export function readingPanel(title, texts, { sticky = true, extra = null } = {}) {
  const id = uniqueId("panel");
  const single = texts.length === 1;
  const body = el(
    "div",
    // Only what can be focused can be scrolled by keyboard.
    { class: "panel-body", id: `${id}-body`, tabindex: "0", role: "group", "aria-labelledby": id },
    texts.map(([name, text]) =>
      el("div.panel-text", !single && el("h3", name), typeof text === "string" ? written(text) : text),
    ),
  );
  const fold = el(
    "button.button.small.quiet.fold",
    { type: "button", "aria-expanded": "true", "aria-controls": body.id },
    "Hide",
  );
  const more = el("p.more-below", { "aria-hidden": "true" }, "More below ↓");
  const node = el(
    "section",
    { class: `panel card ${sticky ? "sticky" : ""}`, "aria-labelledby": id },
    el("div.panel-head", el("h2", { id }, title), fold),
    extra,
    body,
    more,
  );
  fold.addEventListener("click", () => {
    const folded = node.classList.toggle("folded");
    fold.setAttribute("aria-expanded", String(!folded));
    setText(fold, folded ? "Show" : "Hide");
    cue();
  });
  // A text that goes on below its frame says so until its end was seen.
  const cue = () => {
    more.hidden = body.scrollHeight - body.clientHeight - body.scrollTop < 8;
  };
  body.addEventListener("scroll", cue, { passive: true });
  new ResizeObserver(cue).observe(body);
  return node;
}

/**
 * On phones the panel sticks to the top; nothing may scroll behind it when it is jumped to.
 * @param {HTMLElement | null} reading the panel, or what holds it
 */
export function followPanel(reading) {
  const panel = reading?.matches(".sticky") ? reading : reading?.querySelector(".panel.sticky");
  if (!(panel instanceof HTMLElement)) return () => {};
  const root = document.documentElement;
  const measure = () => {
    const sticks = getComputedStyle(panel).getPropertyValue("--sticks-above").trim() === "yes";
    root.style.setProperty("--stuck", sticks ? `${panel.offsetHeight}px` : "0px");
  };
  measure(); // before anything is brought into view
  const observer = new ResizeObserver(measure);
  observer.observe(panel);
  addEventListener("resize", measure);
  return () => {
    observer.disconnect();
    removeEventListener("resize", measure);
    root.style.removeProperty("--stuck");
  };
}
