// @ts-check
// The summaries of a topic one after the other: which one this is, how many are begun, the next and the one before, and
// how long this one has taken.

import { get, path, post } from "../shared/api.js";
import { button, byId, el, put, setText } from "../shared/dom.js";
import { duration } from "../shared/format.js";
import { say } from "../shared/messages.js";

/** @import { Work } from "./work.js" */
/**
 * @typedef {{ system: string, id: number | null, url: string | null, changes: number, last: number | null,
 *   seconds: number }} Row a summary of the topic, and its annotation
 */

/** As the server counts: whoever changes nothing for five minutes has left the desk. */
const PAUSE = 300;
const TIME =
  "Time at work on this summary: from change to change, without pauses of more than five minutes. Only you and those who see this annotation see it.";

export class Round {
  /** @type {Row[]} */
  #rows = [];
  #at = -1;
  #seconds = 0;
  #last = Date.now() / 1000;

  /** @param {Work} work */
  constructor(work) {
    this.work = work;
    this.place = byId("round");
    this.time = el("span.a-time", { title: TIME });
  }

  async load() {
    this.#rows = await get(path`/api/annotate/${this.work.id}/round`);
    this.#at = this.#rows.findIndex(({ id }) => id === this.work.id);
    const mine = this.#rows[this.#at];
    if (!mine) return;
    this.#seconds = mine.seconds;
    if (mine.last) this.#last = mine.last;
    this.#draw();
    this.work.on("own", () => this.#worked());
  }

  #draw() {
    const begun = this.#rows.filter(({ id }) => id !== null).length;
    /** @param {1 | -1} by @param {string} shown @param {string} title @param {string} key */
    const step = (by, shown, title, key) => {
      const made = button(shown, () => this.go(by), "small");
      made.setAttribute("aria-label", title);
      made.title = `${title} (${key})`;
      if (!this.#rows[this.#at + by]) made.setAttribute("aria-disabled", "true");
      return made;
    };
    const all = this.#rows.length;
    const bar = el("progress", { max: all, value: begun, "aria-label": "Summaries begun" });
    const where = el("span.a-where", `Summary ${this.#at + 1} of ${all}`, el("small", `${begun} begun`), bar);
    put(this.place, step(-1, "‹", "Previous summary", "K"), where, step(1, "›", "Next summary", "J"), this.time);
    this.#tell();
  }

  /** A change was made here. */
  #worked() {
    const now = Date.now() / 1000;
    if (now - this.#last <= PAUSE) this.#seconds += Math.max(now - this.#last, 0);
    this.#last = now;
    this.#tell();
  }

  #tell() {
    setText(this.time, this.#seconds < 60 ? "under 1 min" : duration(60 * Math.round(this.#seconds / 60)));
  }

  /** To the next summary or the one before; where none of one's own is begun, it begins. @param {1 | -1} by */
  async go(by) {
    const { annotation } = this.work.state;
    let at = this.#at + by;
    if (!this.work.mayEdit) while (this.#rows[at] && this.#rows[at].id === null) at += by;
    const row = this.#rows[at];
    if (!row) return say(by > 0 ? "This is the last summary of the topic." : "This is the first summary of the topic.");
    await this.work.settled();
    if (row.url) return location.assign(row.url);
    const { topic, name, shared, pyramid, pyramid_id: id } = annotation;
    const body = { kind: "peer", topic, system: row.system, name, shared, pyramid: pyramid || id };
    try {
      location.assign((await post("/api/annotate", body)).url);
    } catch (/** @type {any} */ error) {
      say(`This summary could not be begun: ${error.message}`);
    }
  }
}
