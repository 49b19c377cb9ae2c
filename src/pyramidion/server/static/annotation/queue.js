// @ts-check
// Commands that the server has not taken yet, in order. They are kept on this device too: a closed page loses nothing.

import { device } from "../shared/device.js";
import { renamed } from "./commands.js";

/** @import { Command, Content } from "./commands.js" */
/** @typedef {Pick<Content, "pyramid" | "peer" | "decided">} Preview */
/** @typedef {{ command: Command, preview: Preview | null, tried: boolean, sending: boolean }} Item */

const PREFIX = "pyramidion:annotate:";
const MOST = 100;

export class Queue {
  #name;
  /** @type {Item[]} */
  #items = [];

  /** @param {number} annotation @param {string} me */
  constructor(annotation, me) {
    this.#name = `${PREFIX}${annotation}:${me}`;
  }

  get length() {
    return this.#items.length;
  }

  get first() {
    return this.#items[0];
  }

  get commands() {
    return this.#items.map((item) => item.command);
  }

  get items() {
    return this.#items;
  }

  /**
   * @param {Command} command
   * @param {number} version
   * @param {Preview | null} [preview] what the annotation will be afterwards, where that is known; for undo and redo
   */
  add(command, version, preview = null) {
    this.#items.push({ command, preview, tried: false, sending: false });
    this.#keep(version);
  }

  /** The first is done with. @param {number} version */
  shift(version) {
    const item = this.#items.shift();
    this.#keep(version);
    return item;
  }

  /** Take back the last change if it has not been sent; null where it has. @param {number} version */
  withdraw(version) {
    const last = this.#items.at(-1);
    if (!last || last.sending || last.tried || last.command.type === "undo" || last.command.type === "redo")
      return null;
    this.#items.pop();
    this.#keep(version);
    return last.command;
  }

  /**
   * Leave out those of the unsent that a test finds, and return them.
   * @param {(command: Command) => boolean} test @param {number} version
   */
  drop(test, version) {
    const dropped = this.#items.filter((item) => !item.sending && test(item.command));
    this.#items = this.#items.filter((item) => !dropped.includes(item));
    this.#keep(version);
    return dropped.map((item) => item.command);
  }

  /** @param {string} from @param {string} to @param {number} version */
  rename(from, to, version) {
    for (const item of this.#items) item.command = renamed(item.command, from, to);
    this.#keep(version);
  }

  /** What an earlier visit left. @returns {{ version: number, commands: Command[] } | null} */
  left = () => device.read(this.#name);

  /**
   * Where the device keeps nothing, only this page holds the commands, and it warns before it is left.
   * @param {number} version
   */
  #keep(version) {
    if (!this.#items.length) device.remove(this.#name);
    else device.write(this.#name, { version, commands: this.commands });
  }
}

// -- undo and redo -------------------------------------------------------------------------------------------

/**
 * What the annotation was before one's own last changes, so that undo and redo show at once what the server will say.
 * Only guesses: whenever somebody else changes something, or something is refused, they are forgotten.
 */
export class Past {
  /** @type {Preview[]} */
  #before = [];
  /** @type {Preview[]} */
  #after = [];

  forget() {
    this.#before = [];
    this.#after = [];
  }

  /**
   * A command of one's own was taken by the server; this was the state until then.
   * @param {string} type @param {Content} state
   */
  taken(type, { pyramid, peer, decided }) {
    const side = type === "undo" ? this.#after : this.#before;
    side.push({ pyramid, peer, decided });
    if (side.length > MOST) side.shift();
    if (type === "undo") this.#before.pop();
    else if (type === "redo") this.#after.pop();
    else this.#after = [];
  }

  /**
   * What an undo or redo will lead to after the commands that wait; null where that is not known.
   * @param {"undo" | "redo"} type
   * @param {Item[]} waiting
   * @param {(item: Item) => Content} stateBefore
   */
  preview(type, waiting, stateBefore) {
    const future = new Past();
    [future.#before, future.#after] = [[...this.#before], [...this.#after]];
    for (const item of waiting) {
      const { type: each } = item.command;
      if ((each === "undo" || each === "redo") && !item.preview) return null;
      future.taken(each, stateBefore(item));
    }
    return (type === "undo" ? future.#before : future.#after).at(-1) ?? null;
  }
}
