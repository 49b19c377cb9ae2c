// Asking again and again: only while the page is seen, less often when the server is slow or gone.

import { clock, el, setText } from "./manager-dom.js";

const SLOWEST = 60_000;

/**
 * Calls load() about every `every` milliseconds. `line` is the element that says how fresh the page is; a button in
 * it stops and restarts the updates. `onTrouble` is called when the page cannot be shown or is out of date.
 */
export class Live {
  #timer = 0;
  #failures = 0;
  #running = null;
  #loaded = false;
  #stopped = false;
  #ended = false;

  constructor(load, { every, line, onTrouble }) {
    this.load = load;
    this.every = every;
    this.onTrouble = onTrouble;
    this.dot = el("span", { class: "m-dot", "aria-hidden": "true" });
    this.text = el("span", { class: "m-live-text" }, "Loading …");
    this.button = el("button", { type: "button", class: "button quiet small", onclick: () => this.#toggle() });
    setText(this.button, "Stop updates");
    line.replaceChildren(this.dot, this.text, this.button);
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#cancel() : this.#resume()));
  }

  start() {
    return this.now();
  }

  /** Ask right now, e.g. after a decision; joins a request that is under way only if it began before. */
  async now() {
    this.#cancel();
    while (this.#running) await this.#running;
    this.#running = this.#ask();
    await this.#running;
  }

  async #ask() {
    const began = performance.now();
    try {
      await this.load();
      this.#failures = 0;
      this.#loaded = true;
      this.#show("live", `Updated ${clock(new Date())}`);
    } catch (error) {
      this.#failures += 1;
      this.#ended = error.status === 401 || error.status === 404;
      const again = this.#ended ? "" : " Trying again …";
      this.#show("bad", `${error.message.replace(/[^.!?]$/, "$&.")}${again}`);
      // One lost poll is no reason to move the page.
      if (this.#ended || !this.#loaded || this.#failures >= 3) this.onTrouble(error);
    } finally {
      this.#running = null;
    }
    this.#cancel();
    const took = performance.now() - began;
    const wait = Math.min(Math.max(this.every * 2 ** Math.min(this.#failures, 5), 4 * took), SLOWEST);
    if (!this.#stopped && !this.#ended && !document.hidden) this.#timer = setTimeout(() => this.now(), wait);
  }

  #cancel() {
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  #resume() {
    if (!this.#stopped && !this.#ended && !this.#running) this.now();
  }

  #toggle() {
    this.#stopped = !this.#stopped;
    setText(this.button, this.#stopped ? "Resume updates" : "Stop updates");
    if (this.#stopped) {
      this.#cancel();
      this.dot.className = "m-dot";
    } else {
      this.#ended = false;
      this.now();
    }
  }

  #show(state, text) {
    this.dot.className = `m-dot m-dot-${this.#stopped ? "off" : state}`;
    setText(this.text, text);
  }
}

// -- what screen readers hear, and what everybody sees for a moment ------------------------------------------

let hideToast = 0;

/** Say what an action did: read out, and shown at the bottom of the page for a while. */
export function say(text) {
  const toast = document.getElementById("toast");
  clearTimeout(hideToast);
  toast.replaceChildren(el("p", {}, text));
  hideToast = setTimeout(() => toast.replaceChildren(), 7000);
}

/** Say something to those who do not see the page change. */
export function announce(text) {
  setText(document.getElementById("announcements"), text);
}
