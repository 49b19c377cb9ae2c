// Single keys as commands. They can be switched off, since speech input and some screen readers type letters.

import { el } from "./worker-dom.js";

const NAME = "pyramidion:shortcuts";
const TYPING = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";

function read() {
  try {
    return localStorage.getItem(NAME) !== "off";
  } catch {
    return true;
  }
}

export const shortcuts = {
  on: read(),

  /** Whether a key press is meant as a command. */
  takes(event) {
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    return (
      shortcuts.on && !modified && !event.isComposing && !event.defaultPrevented && !event.target.closest?.(TYPING)
    );
  },

  /** The letter pressed: by the place on the keyboard where it types letters other than a to z. */
  letter(event) {
    const typed = event.key.toLowerCase();
    return /^[a-z]$/.test(typed) || !/^\p{L}$/u.test(typed) ? typed : event.code.replace(/^Key/, "").toLowerCase();
  },

  toggle() {
    const box = el("input", { type: "checkbox" });
    box.checked = shortcuts.on;
    box.addEventListener("change", () => {
      shortcuts.on = box.checked;
      try {
        localStorage.setItem(NAME, box.checked ? "on" : "off");
      } catch {
        // for this page only, then
      }
    });
    return el("label", { class: "choice" }, box, "Use these keys");
  },
};
