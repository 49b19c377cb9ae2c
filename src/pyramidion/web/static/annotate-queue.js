// Commands that the server has not taken yet, in order. They are kept on this device too: a closed page loses nothing.

import { renamed } from "./annotate-edit.js";

const PREFIX = "pyramidion:annotate:";

export class Queue {
  #name;
  #items = [];

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

  /** preview: what the annotation will be afterwards, where that is known; for undo and redo. */
  add(command, version, preview = null) {
    this.#items.push({ command, preview, tried: false, sending: false });
    this.#keep(version);
  }

  /** The first is done with. */
  shift(version) {
    const item = this.#items.shift();
    this.#keep(version);
    return item;
  }

  /** Take back the last change if it has not been sent; null where it has. */
  withdraw(version) {
    const last = this.#items.at(-1);
    if (!last || last.sending || last.tried || last.command.type === "undo" || last.command.type === "redo") return null;
    this.#items.pop();
    this.#keep(version);
    return last.command;
  }

  /** Leave out those of the unsent that a test finds, and return them. */
  drop(test, version) {
    const dropped = this.#items.filter((item) => !item.sending && test(item.command));
    this.#items = this.#items.filter((item) => !dropped.includes(item));
    this.#keep(version);
    return dropped.map((item) => item.command);
  }

  rename(from, to, version) {
    for (const item of this.#items) item.command = renamed(item.command, from, to);
    this.#keep(version);
  }

  /** What an earlier visit left: {version, commands}, or null. */
  left() {
    try {
      return JSON.parse(localStorage.getItem(this.#name));
    } catch {
      return null;
    }
  }

  #keep(version) {
    try {
      if (!this.#items.length) localStorage.removeItem(this.#name);
      else localStorage.setItem(this.#name, JSON.stringify({ version, commands: this.commands }));
    } catch {
      // private windows may refuse: then only this page holds them, and warns before it is left
    }
  }
}
