// What the annotation was before one's own last changes, so that undo and redo show at once what the server will say.
// Only guesses: whenever somebody else changes something, or something is refused, they are forgotten.

const MOST = 100;
const content = ({ pyramid, peer }) => ({ pyramid, peer });

export class Past {
  #before = [];
  #after = [];

  forget() {
    this.#before = [];
    this.#after = [];
  }

  /** A command of one's own was taken by the server; this was the state until then. */
  taken(type, state) {
    const side = type === "undo" ? this.#after : this.#before;
    side.push(content(state));
    if (side.length > MOST) side.shift();
    if (type !== "undo" && type !== "redo") this.#after = [];
  }

  /** What an undo or redo will lead to, unless other things are on their way. */
  preview(type, waiting) {
    if (waiting.some((command) => command.type !== type)) return null;
    return (type === "undo" ? this.#before : this.#after).pop() ?? null;
  }
}
