// @ts-check
// What a page's scripts find in a browser, as far as logic without a screen needs it.

/** @type {any} */
const page = globalThis;

/** A device that keeps things, or refuses to. */
export class Storage {
  refusing = false;
  /** @type {Record<string, string>} */
  kept = {};

  /** Object.keys(localStorage) lists what is kept. */
  install() {
    const storage = this;
    page.localStorage = new Proxy(this.kept, {
      get(kept, name) {
        if (storage.refusing) throw new Error("a private window");
        if (name === "getItem") return (/** @type {string} */ key) => kept[key] ?? null;
        if (name === "setItem") return (/** @type {string} */ key, /** @type {string} */ value) => (kept[key] = value);
        if (name === "removeItem") return (/** @type {string} */ key) => delete kept[key];
        return undefined;
      },
    });
    return this;
  }
}

/** @param {Record<string, string>} [texts] of elements, by their ids */
export function installPage(texts = {}) {
  page.addEventListener = () => {};
  page.removeEventListener = () => {};
  page.document = {
    hidden: false,
    addEventListener() {},
    querySelector: () => null,
    getElementById: (/** @type {string} */ id) => ({ textContent: texts[id] ?? "" }),
  };
  return new Storage().install();
}

/**
 * Answer what the page asks of the server.
 * @param {(request: { path: string, method: string, body: any }) => { status?: number, body?: unknown } | null} answer
 *   null: the server cannot be reached
 */
export function installServer(answer) {
  page.fetch = async (/** @type {string} */ path, /** @type {RequestInit} */ { method = "GET", body }) => {
    const { status = 200, body: given = {} } = answer({ path, method, body: body && JSON.parse(String(body)) }) ?? {};
    if (status === 0) throw new TypeError("offline");
    return new Response(typeof given === "string" ? given : JSON.stringify(given), { status });
  };
}
