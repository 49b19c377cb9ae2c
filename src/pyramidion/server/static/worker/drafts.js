// @ts-check
// Unfinished work: kept on this device at once, and on the server a moment later. Whichever is newer is restored.

import { ApiError, call, path, sleep, waits } from "../shared/api.js";
import { device } from "../shared/device.js";

/** @import { CallOptions } from "../shared/api.js" */
/**
 * @typedef {{ at: number, answer: any }} SavedDraft
 * @typedef {{ campaign: string, assignment: string, task: string, key: string, opened: number,
 *   submitting?: boolean } & SavedDraft} DraftRecord
 * @typedef {{ state: string, error?: any, expires?: number | null, finished?: boolean }} SaveState
 */

const PREFIX = "pyramidion:work:";
const QUIET = 800;
const KEPT_FOR = 30 * 24 * 3600 * 1000;

/** Only for the key of a submission: randomUUID exists on https alone, and labs do run on plain http. */
function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The newest of the drafts that hold an answer: the first of two that are equally new.
 * @param {...(SavedDraft | null | undefined)} drafts
 */
export function newestDraft(...drafts) {
  const held = drafts.filter((draft) => draft?.answer);
  return held.sort((a, b) => (b?.at ?? 0) - (a?.at ?? 0))[0] ?? null;
}

export class Draft extends EventTarget {
  #name;
  /** @type {DraftRecord} */
  #record;
  #unsent = false;
  #sending = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #over = new AbortController();

  /**
   * @param {{ campaign: string, assignment: string, task: string, saved: SavedDraft | null | undefined }} about
   *   task: tells whether what the device holds under this number belongs to the same task
   */
  constructor({ campaign, assignment, task, saved }) {
    super();
    this.#name = `${PREFIX}${campaign}:${assignment}`;
    const local = device.read(this.#name);
    const own = local?.task === task && typeof local.key === "string" ? local : null;
    const newest = newestDraft(own, saved);
    const { at = 0, answer = null } = newest ?? {};
    this.#record = { campaign, assignment, task, key: own?.key ?? newKey(), opened: Date.now(), at, answer };
    this.restored = Boolean(newest);
    this.#unsent = Boolean(newest && newest === own && (saved?.at ?? -1) < own.at);
    this.kept = device.write(this.#name, this.#record);
    const signal = this.#over.signal;
    addEventListener("pagehide", () => this.#sendOnTheWayOut(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden && this.#sendOnTheWayOut(), { signal });
    addEventListener("storage", (event) => event.key === this.#name && this.#changedElsewhere(), { signal });
    if (this.#unsent) this.#schedule();
  }

  get answer() {
    return this.#record.answer;
  }

  get key() {
    return this.#record.key;
  }

  /** @param {any} answer */
  change(answer) {
    // Later than the one before, even where a clock is set back.
    this.#record.at = Math.max(Date.now(), this.#record.at + 1);
    this.#record.answer = answer;
    this.kept = device.write(this.#name, this.#record);
    this.#unsent = true;
    this.#schedule();
  }

  /**
   * From now on this is a submission: should the page be closed, it is sent when it is opened again.
   * @param {any} answer
   */
  submitting(answer) {
    this.#record.answer = answer;
    this.#record.submitting = true;
    this.kept = device.write(this.#name, this.#record);
  }

  /** It was not accepted, so it is a draft again. */
  editing() {
    delete this.#record.submitting;
    this.kept = device.write(this.#name, this.#record);
  }

  /** Send what is not sent yet, now. */
  flush() {
    this.#sendOnTheWayOut();
  }

  close() {
    clearTimeout(this.#timer);
    this.#over.abort();
  }

  forget() {
    this.close();
    device.remove(this.#name);
  }

  #schedule() {
    this.#tell("saving");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), QUIET);
  }

  async #send() {
    if (this.#sending) return; // the running one sends what is newest
    this.#sending = true;
    const signal = this.#over.signal;
    let pauses = waits();
    while (this.#unsent && !signal.aborted) {
      const { at } = this.#record;
      try {
        const { expires } = await this.#put({ signal });
        if (this.#record.at === at) this.#unsent = false;
        pauses = waits();
        this.#tell(this.#unsent ? "saving" : "saved", { expires });
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof ApiError && error.unreachable) {
          this.#tell(error.broken ? "broken" : "offline");
          await sleep(pauses.next().value ?? 1, { signal });
        } else {
          this.#unsent = false;
          this.#tell("refused", { error });
        }
      }
    }
    this.#sending = false;
  }

  /** @param {CallOptions} options */
  #put(options) {
    const { campaign, assignment, at, answer } = this.#record;
    return call("PUT", path`/api/work/${campaign}/${assignment}/draft`, { draft: { at, answer } }, options);
  }

  #sendOnTheWayOut() {
    if (this.#unsent && !this.#record.submitting) this.#put({ keepalive: true }).catch(() => {});
  }

  /** Another tab with the same task: two of them must not overwrite each other. */
  #changedElsewhere() {
    const other = device.read(this.#name);
    if (!other || other.at > this.#record.at) this.#tell("elsewhere", { finished: !other });
  }

  /** @param {string} state */
  #tell(state, detail = {}) {
    this.dispatchEvent(new CustomEvent("state", { detail: { state, ...detail } }));
  }
}

/**
 * Send what was submitted on this device but never confirmed; returns how many answers arrived.
 * @param {string} campaign
 */
export async function sendUnconfirmed(campaign) {
  let sent = 0;
  for (const name of device.names(PREFIX)) {
    const record = device.read(name);
    if (record?.campaign !== campaign || !record.submitting) continue;
    try {
      await call("POST", path`/api/work/${campaign}/${record.assignment}/submit`, {
        key: record.key,
        answer: record.answer,
      });
      device.remove(name);
      sent += 1;
    } catch (error) {
      if (error instanceof ApiError && error.unreachable) throw error;
      // Refused for good, or the work of somebody else who uses this device: it stays as a draft.
      if (!(error instanceof ApiError && error.status === 401))
        device.write(name, { ...record, submitting: undefined });
    }
  }
  return sent;
}

export function tidy() {
  for (const name of device.names(PREFIX)) {
    const record = device.read(name);
    if (!record || Math.max(record.opened ?? 0, record.at ?? 0) < Date.now() - KEPT_FOR) device.remove(name);
  }
}
