// @ts-check
// Single keys as commands. They can be switched off, since speech input and some screen readers type letters.

import { device } from "./device.js";
import { el } from "./dom.js";

const NAME = "pyramidion:shortcuts";
const TYPING = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";

export const shortcuts = {
  on: device.read(NAME) !== "off",

  /** Whether a key press is meant as a command. @param {KeyboardEvent} event */
  takes(event) {
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    const typing = /** @type {Partial<Element>} */ (event.target).closest?.(TYPING);
    return shortcuts.on && !modified && !event.isComposing && !event.defaultPrevented && !typing;
  },

  /**
   * The letter pressed: by the place on the keyboard where it types letters other than a to z.
   * @param {Pick<KeyboardEvent, "key" | "code">} event
   */
  letter(event) {
    const typed = event.key.toLowerCase();
    return /^[a-z]$/.test(typed) || !/^\p{L}$/u.test(typed) ? typed : event.code.replace(/^Key/, "").toLowerCase();
  },

  toggle() {
    const box = el("input", { type: "checkbox", checked: shortcuts.on });
    box.addEventListener("change", () => {
      shortcuts.on = box.checked;
      device.write(NAME, box.checked ? "on" : "off");
    });
    return el("label.choice", box, "Use these keys");
  },
};
