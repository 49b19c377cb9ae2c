// @ts-check
// The annotation as the page shows it: what the server holds, with the changes on their way already made.
//
// Commands go to the server one at a time, in order. Nothing of others is taken in while any is under way, so the
// version that a command is made against is the one its author saw; what comes in between is found when the reply
// comes, and whatever it touches of the rest of the queue is not sent but shown. No update is lost on either side.
//
// Events: "change" {events: of others, since the last change}, "own" {}, "named" {from, to}, "saving" {state, text},
// "refused" {command, reason}, "conflict" {command, events, reason}, "gone" {error}.

import { ApiError, get, post } from "../shared/api.js";
import { apply, isProvisional, made, named, Refused, renamed, unitsOf, unnamed } from "./commands.js";
import { Past, Queue } from "./queue.js";

/** @import { Command, Event as Change, State } from "./commands.js" */
/** @import { Item, Preview } from "./queue.js" */

/** Stands for an undo that was sent, among the commands that were withdrawn before they were. */
const SENT = null;
const EVERY = 1500;
const SLOWEST = 15_000;

export class Work extends EventTarget {
  #queue;
  /** @type {State} */
  #server;
  #me;
  #draining = false;
  #failures = 0;
  /** @type {(() => void) | null} */
  #wake = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #ended = false;
  /** What redo brings back, the next one last. @type {(Command | typeof SENT)[]} */
  #undone = [];
  #past = new Past();

  /** @param {State} state @param {string} me */
  constructor(state, me) {
    super();
    this.id = state.annotation.id;
    this.#server = state;
    this.#me = me;
    this.#queue = new Queue(this.id, me);
    this.state = state;
    addEventListener("online", () => this.#wake?.());
    addEventListener("beforeunload", (event) => this.#queue.length > 0 && event.preventDefault());
    document.addEventListener("visibilitychange", () => !document.hidden && this.#poll());
  }

  get mayEdit() {
    return this.#server.may_edit;
  }

  get waiting() {
    return this.#queue.length;
  }

  /** What undo and redo would do, for the buttons. */
  get undoable() {
    return this.#queue.length ? "the last change" : this.#server.undo;
  }

  get redoable() {
    if (this.#undone.length) return "the last change";
    return this.#queue.length ? null : this.#server.redo; // a change on its way leaves nothing to redo
  }

  /** Hear of an event. @param {string} type @param {(detail: any) => void} run */
  on(type, run) {
    this.addEventListener(type, (event) => run(/** @type {CustomEvent} */ (event).detail));
  }

  /** When nothing is on its way to the server any more. @returns {Promise<void>} */
  settled() {
    if (!this.#queue.length) return Promise.resolve();
    return new Promise((done) => this.on("saving", ({ state }) => state === "saved" && done()));
  }

  async start() {
    await this.#resume();
    if (!this.#queue.length) this.#saving("saved");
    this.#schedule();
  }

  /**
   * Make a change here and now; the server hears of it next. The name of what it makes, or false where refused.
   * @param {Command} command
   */
  do(command) {
    if (!this.mayEdit) return this.#refuse(command, "You can read this annotation but not change it.");
    const complete = named(command);
    try {
      apply(this.state, complete);
    } catch (error) {
      if (error instanceof Refused) return this.#refuse(command, error.message);
      throw error;
    }
    this.#undone = [];
    return this.#enqueue(complete);
  }

  undo() {
    const command = this.#queue.withdraw(this.#server.version);
    if (!command && !this.undoable) return false;
    this.#undone.push(command);
    if (!command) return this.#go("undo");
    this.#show();
    return true;
  }

  redo() {
    const command = this.#undone.pop();
    return command ? this.#enqueue(command) : this.#go("redo");
  }

  /** @param {"undo" | "redo"} type */
  #go(type) {
    const { items } = this.#queue;
    /** @param {Item} item */
    const before = (item) => items.slice(0, items.indexOf(item)).reduce(withItem, this.#server);
    return this.#enqueue({ type }, this.#past.preview(type, items, before));
  }

  /** A reply to something else that changed the annotation, like an import. @param {State} state */
  adopt(state) {
    this.#forget();
    this.#server = state;
    this.#show();
  }

  // -- sending -------------------------------------------------------------------------------------------------

  /** What is known about going back and forth no longer holds. */
  #forget() {
    this.#past.forget();
    this.#undone = this.#undone.filter((command) => command !== SENT);
  }

  /** @param {Command} command @param {Preview | null} [preview] */
  #enqueue(command, preview = null) {
    this.#queue.add(command, this.#server.version, preview);
    this.#tell("own", {});
    this.#show();
    this.#drain();
    return made(command) ?? true;
  }

  async #drain() {
    if (this.#draining || this.#ended) return;
    this.#draining = true;
    clearTimeout(this.#timer);
    this.#saving("saving");
    await painted(); // first the annotator, then the server
    while (this.#queue.length && !this.#ended) await this.#send(this.#queue.first);
    this.#draining = false;
    if (!this.#ended) this.#saving("saved");
    this.#schedule();
  }

  /** @param {Item} item */
  async #send(item) {
    const before = this.#server.version;
    try {
      if (item.tried && (await this.#arrived(item, before))) return;
      item.sending = true;
      const reply = await post(this.#path("commands"), { command: unnamed(item.command), base: before });
      this.#failures = 0;
      await this.#accepted(item, reply, before);
    } catch (error) {
      item.sending = false;
      if (!(error instanceof ApiError)) throw error;
      if (error.unreachable) await this.#later(item, error);
      else this.#notTaken(item, error);
    }
  }

  /** @param {Item} item @param {{ event: Change, state: State }} reply @param {number} before */
  async #accepted(item, { event, state }, before) {
    /** @type {Change[]} */
    const between = event.number === before ? [] : (await this.#since(before)).events;
    this.#queue.shift(state.version);
    this.#name(item.command, event.command);
    this.#past.taken(item.command.type, this.#server);
    this.#take(
      state,
      between.filter((other) => other.number !== event.number && other.number < state.version),
    );
  }

  /** Whether a command whose reply was lost has been taken after all. @param {Item} item @param {number} before */
  async #arrived(item, before) {
    /** @type {{ events: Change[], state: State }} */
    const { events, state } = await this.#since(before);
    const event = events.find((each) => each.author === this.#me && sameCommand(unnamed(item.command), each.command));
    if (!event) return false;
    this.#queue.shift(state.version);
    this.#name(item.command, event.command);
    this.#take(
      state,
      events.filter((other) => other !== event),
    );
    return true;
  }

  /** @param {Item} item @param {ApiError} error */
  async #later(item, error) {
    item.tried = true;
    this.#failures += 1;
    const reason = error.status === 0 ? "offline" : "the server has a problem";
    this.#saving("unsaved", `Not saved: ${reason}. Kept here, trying again …`);
    const wait = Math.min(500 * 2 ** Math.min(this.#failures, 6), SLOWEST);
    /** @type {Promise<void>} */
    const woken = new Promise((done) => {
      this.#wake = done;
      setTimeout(done, wait);
    });
    await woken;
  }

  /** @param {Item} item @param {ApiError} error */
  #notTaken(item, error) {
    this.#queue.shift(this.#server.version);
    this.#forget();
    const { events = [], state } = error.data ?? {};
    if (state) this.#take(state, events);
    else this.#show();
    if (events.length) return this.#tell("conflict", { command: item.command, events, reason: error.message });
    if (error.status === 401 || error.status === 404) return this.#end(error);
    return this.#refuse(item.command, error.message);
  }

  // -- what others do ------------------------------------------------------------------------------------------

  #schedule() {
    clearTimeout(this.#timer);
    if (!this.#ended) this.#timer = setTimeout(() => this.#poll(), EVERY * 2 ** Math.min(this.#failures, 3));
  }

  async #poll() {
    clearTimeout(this.#timer);
    if (document.hidden || this.#draining || this.#ended) return;
    const { version, pyramid_version: pyramid } = this.#server;
    try {
      const also = pyramid === null || pyramid === undefined ? "" : `&pyramid=${pyramid}`;
      const { events, state } = await get(this.#path(`changes?since=${version}${also}`));
      // a command sent meanwhile brings the news itself
      if (state && !this.#draining && version === this.#server.version) this.#take(state, events);
      if (this.#failures && !this.#draining) this.#saving("saved");
      this.#failures = 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401 || error.status === 404) return void this.#end(error);
      this.#failures += 1;
      if (!this.#draining) this.#saving("away", "Offline: changes are kept here until the server is back.");
    }
    if (!this.#draining) this.#schedule();
  }

  /**
   * A newer state and the events of others in it; commands that wait for the same units are not sent over them.
   * @param {State} state @param {Change[]} events
   */
  #take(state, events) {
    this.#server = state;
    if (events.length) this.#forget();
    const touched = events.map((event) => unitsOf(event.command));
    /** @param {Command} command */
    const clashes = (command) => {
      const own = unitsOf(command);
      return own === null || touched.some((units) => units === null || units.some((unit) => own.includes(unit)));
    };
    const dropped = events.length ? this.#queue.drop(clashes, state.version) : [];
    this.#show(events);
    for (const command of dropped)
      this.#tell("conflict", { command, events, reason: "somebody else changed this meanwhile" });
  }

  /** @param {Change[]} [events] */
  #show(events = []) {
    this.state = this.#queue.items.reduce(withItem, this.#server);
    this.#tell("change", { events });
  }

  /** @param {Command} command @param {Command} final */
  #name(command, final) {
    const [from, to] = [made(command), made(final)];
    if (!isProvisional(from) || !to) return;
    this.#queue.rename(from, to, this.#server.version);
    this.#tell("named", { from, to });
  }

  /** What an earlier visit could not send, as far as nobody has changed the same units since. */
  async #resume() {
    const left = this.#queue.left();
    if (!left?.commands?.length || !this.mayEdit) return;
    const { events } = await this.#since(left.version);
    let commands = left.commands;
    /** @type {Change[]} */
    const others = [];
    for (const event of events) {
      const [first, ...rest] = commands;
      const arrived = first && event.author === this.#me && sameCommand(unnamed(first), event.command);
      if (!arrived) others.push(event);
      else commands = rest.map((command) => renamed(command, made(first), made(event.command)));
    }
    for (const command of commands) this.#queue.add(command, this.#server.version);
    this.#take(this.#server, others);
    this.#drain();
  }

  /** @param {number} version */
  #since = (version) => get(this.#path(`changes?since=${version}`));

  // -- telling -------------------------------------------------------------------------------------------------

  /** @param {Command} command @param {string} reason */
  #refuse(command, reason) {
    this.#tell("refused", { command, reason });
    return false;
  }

  /** @param {ApiError} error */
  #end(error) {
    this.#ended = true;
    this.#saving("unsaved", error.message);
    this.#tell("gone", { error });
  }

  /** @param {string} state @param {string} [text] */
  #saving(state, text = state === "saved" ? "All changes saved" : "Saving …") {
    this.#tell("saving", { state, text });
  }

  /** @param {string} type @param {object} detail */
  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** @param {string} rest */
  #path = (rest) => `/api/annotate/${this.id}/${rest}`;
}

/** @returns {Promise<void>} */
const painted = () => new Promise((done) => (document.hidden ? done() : requestAnimationFrame(() => setTimeout(done))));

/** @param {State} state @param {Item} item @returns {State} */
function withItem(state, { command, preview }) {
  if (preview) return { ...state, ...preview };
  try {
    return apply(state, command);
  } catch {
    return state; // the server will say why
  }
}

/**
 * Whether an event is of this command: the server leaves out what is empty and fills in names.
 * @param {Command} sent @param {Command} taken
 */
function sameCommand(sent, taken) {
  return Object.entries(sent).every(([field, value]) => {
    const empty = value === "" || (Array.isArray(value) && !value.length);
    return empty || JSON.stringify(value) === JSON.stringify(taken[field]);
  });
}
