// @ts-check
// Talking to the server: JSON in and out, one kind of error, and not giving up when the server cannot be reached.

/**
 * @typedef {{ where?: string, what?: string }} Problem
 * @typedef {{ tag: string, data: any }} Kept what the server said last; it need not say it again
 * @typedef {{ signal?: AbortSignal, timeout?: number, keepalive?: boolean, kept?: Kept }} CallOptions timeout in
 *   milliseconds
 */

const TIMEOUT = 20_000;
const LONGEST_WAIT = 30;

/** `status` is 0 where no answer came; `data` is all the server said, for pages that know more about a refusal. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {{ status?: number, problems?: Problem[], data?: any, after?: number, cause?: unknown }} [about]
   */
  constructor(message, { status = 0, problems = [], data = null, after = 0, cause } = {}) {
    super(message, { cause });
    this.status = status;
    this.problems = problems;
    this.data = data;
    this.after = after;
  }

  /** Offline, busy, restarting or behind a proxy that is: the request itself may be fine, so asking again may help. */
  get unreachable() {
    return this.status === 0 || this.status >= 500 || this.status === 408 || this.status === 429;
  }

  /** The server answers but cannot work: its disk is full, its database is gone. Then the network is not to blame. */
  get broken() {
    return this.status >= 500 && typeof this.data?.reason === "string";
  }
}

/** @param {string} path @param {CallOptions} [options] */
export const get = (path, options) => call("GET", path, undefined, { timeout: 0, ...options });
/** @param {string} path @param {unknown} body */
export const post = (path, body) => call("POST", path, body, { timeout: 0 });

/**
 * A path from fixed parts and names that may contain anything: path`/api/x/${name}`.
 * @param {TemplateStringsArray} parts
 * @param {...(string | number)} names
 */
export const path = (parts, ...names) => String.raw({ raw: parts }, ...names.map(encodeURIComponent));

/**
 * A text cut in the middle of an emoji ends in half a character, which the server rightly refuses.
 * @param {string} _
 * @param {unknown} value
 */
const mend = (_, value) => (typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value);

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {CallOptions} [options]
 * @returns {Promise<any>}
 */
export async function call(method, path, body, { keepalive = false, signal, timeout = TIMEOUT, kept } = {}) {
  const stop = new AbortController();
  const abort = () => stop.abort();
  const timer = timeout ? setTimeout(abort, timeout) : 0;
  signal?.addEventListener("abort", abort);
  try {
    const response = await fetch(path, {
      method,
      headers: { ...(method === "GET" ? { Accept: "application/json" } : headers()), ...known(kept) },
      body: body === undefined ? undefined : JSON.stringify(body, mend),
      credentials: "same-origin",
      cache: "no-store",
      keepalive,
      signal: stop.signal,
    });
    if (kept && response.status === 304) return kept.data;
    const data = await read(response);
    if (kept) Object.assign(kept, { tag: response.headers.get("ETag") ?? "", data });
    return data;
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error;
    throw new ApiError("The server cannot be reached.", { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** @param {Kept} [kept] @returns {Record<string, string>} */
const known = (kept) => (kept?.tag ? { "If-None-Match": kept.tag } : {});

/** What shows the server that one of its own pages is asking: a header, and in the pages of staff a token too. */
function headers() {
  const { csrf } = document.querySelector("main")?.dataset ?? {};
  const own = { Accept: "application/json", "Content-Type": "application/json", "X-Requested-With": "pyramidion" };
  return csrf ? { ...own, "X-CSRF-Token": csrf } : own;
}

/** @param {Response} response */
async function read(response) {
  const { status } = response;
  if (response.redirected && new URL(response.url).pathname === "/login") throw loggedOut();
  const data = await response.json().catch(() => null);
  if (status === 401 && document.querySelector("main[data-csrf]")) throw loggedOut();
  if (!response.ok) {
    const message = typeof data?.error === "string" ? data.error : `The server answered with status ${status}.`;
    const problems = Array.isArray(data?.problems) ? data.problems : [];
    throw new ApiError(message, { status, problems, data, after: Number(response.headers.get("Retry-After")) || 0 });
  }
  // A page in place of data comes from a hotel's log-in or a proxy, or the line broke halfway.
  if (data === null) throw new ApiError("The answer did not come from this server. Check the network connection.");
  return data;
}

const loggedOut = () => new ApiError("You are logged out. Reload the page to log in again.", { status: 401 });

// -- asking again --------------------------------------------------------------------------------------------

/** Waits in seconds that double, each a little different so that not everybody comes back at once. */
export function* waits() {
  for (let seconds = 1; ; seconds = Math.min(seconds * 2, LONGEST_WAIT)) yield seconds * (0.8 + Math.random() * 0.4);
}

/**
 * Sleeps, but not once the network is back, the person asks for it (`nudge`), or it no longer matters (`signal`).
 * @param {number} seconds
 * @param {{ signal?: AbortSignal, nudge?: EventTarget }} [options]
 * @returns {Promise<void>}
 */
export function sleep(seconds, { signal, nudge } = {}) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      nudge?.removeEventListener("nudge", done);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, seconds * 1000);
    addEventListener("online", done);
    nudge?.addEventListener("nudge", done);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
  });
}

/**
 * Does it again until the server answers; `onwait` hears how many seconds until the next try, and why.
 * @template Answer
 * @param {() => Promise<Answer>} action
 * @param {{ onwait?: (seconds: number, error: ApiError) => void, nudge?: EventTarget, signal?: AbortSignal }} [options]
 * @returns {Promise<Answer>}
 */
export async function untilAnswered(action, { onwait, nudge, signal } = {}) {
  for (const wait of waits()) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ApiError && error.unreachable) || signal?.aborted) throw error;
      const seconds = Math.max(wait, Math.min(error.after, 2 * LONGEST_WAIT));
      onwait?.(seconds, error);
      await sleep(seconds, { nudge, signal });
    }
  }
  throw new Error("waits never end");
}
