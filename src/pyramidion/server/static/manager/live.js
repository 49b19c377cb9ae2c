// @ts-check
// Asking again and again: only while the page is seen, less often when the server is slow or gone.

import { button, byId, el, put, setText } from "../shared/dom.js";
import { clock } from "../shared/format.js";
import { errorBox } from "../shared/messages.js";

const SLOWEST = 60_000;

/**
 * Calls load() about every `every` milliseconds. The element #live says how fresh the page is, and has a button that
 * stops and restarts the updates; #trouble says why the page cannot be shown or is out of date.
 */
export class Live {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #failures = 0;
  /** @type {Promise<void> | null} */
  #running = null;
  #loaded = false;
  #stopped = false;
  #ended = false;

  /** @param {() => Promise<void>} load @param {number} every */
  constructor(load, every) {
    this.load = load;
    this.every = every;
    this.trouble = byId("trouble");
    this.dot = el("span.m-dot", { "aria-hidden": "true" });
    this.text = el("span.m-live-text", "Loading …");
    this.button = button("Stop updates", () => this.#toggle(), "quiet small");
    put(byId("live"), this.dot, this.text, this.button);
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#cancel() : this.#resume()));
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
      put(this.trouble);
      this.#failures = 0;
      this.#loaded = true;
      this.#show("live", `Updated ${clock(new Date())}`);
    } catch (/** @type {any} */ error) {
      this.#failures += 1;
      this.#ended = error.status === 401 || error.status === 404;
      const again = this.#ended ? "" : " Trying again …";
      this.#show("bad", `${error.message.replace(/[^.!?]$/, "$&.")}${again}`);
      // One lost poll is no reason to move the page.
      if (this.#ended || !this.#loaded || this.#failures >= 3) {
        put(this.trouble, errorBox(error, "This page is not up to date"));
      }
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

  /** @param {string} state @param {string} text */
  #show(state, text) {
    this.dot.className = `m-dot m-dot-${this.#stopped ? "off" : state}`;
    setText(this.text, text);
  }
}
