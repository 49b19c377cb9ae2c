// Talking to the server, and not giving up when it cannot be reached.

const TIMEOUT = 20_000;
const LONGEST_WAIT = 30;

/** The server answered, and said no. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.error || `The server answered with status ${status}.`);
    this.status = status;
    this.problems = Array.isArray(body?.problems) ? body.problems : [];
  }
}

/** No usable answer came: asking again later may help. */
export class Unreachable extends Error {
  constructor(cause, after = 0) {
    super("The server cannot be reached.", { cause });
    this.after = after;
  }
}

/** A text cut in the middle of an emoji ends in half a character, which the server rightly refuses. */
const whole = (_, value) => (typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value);

export async function call(method, path, body, { keepalive = false, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET")
    Object.assign(headers, { "X-Requested-With": "pyramidion", "Content-Type": "application/json" });
  const stop = new AbortController();
  const abort = () => stop.abort();
  const timer = setTimeout(abort, TIMEOUT);
  signal?.addEventListener("abort", abort);
  try {
    const response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body, whole),
      credentials: "same-origin",
      cache: "no-store",
      keepalive,
      signal: stop.signal,
    });
    return await read(response);
  } catch (error) {
    throw error instanceof Refused || error instanceof Unreachable ? error : new Unreachable(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

async function read(response) {
  const { status } = response;
  // Busy, restarting or behind a proxy that is: the request itself may be fine.
  if (status >= 500 || status === 408 || status === 429) {
    throw new Unreachable(status, Number(response.headers.get("Retry-After")) || 0);
  }
  let body;
  try {
    body = await response.json();
  } catch (error) {
    // A page in place of data comes from a hotel's log-in or a proxy, or the line broke halfway.
    if (response.ok) throw new Unreachable(error);
  }
  if (!response.ok) throw new Refused(status, body);
  return body;
}

export const workPath = (campaign, rest = "") => `/api/work/${encodeURIComponent(campaign)}${rest}`;
export const assignmentPath = (id, rest) => `/api/assignments/${encodeURIComponent(id)}/${rest}`;

/** Waits that double, each a little different so that not everybody comes back at once. */
export function* waits() {
  for (let seconds = 1; ; seconds = Math.min(seconds * 2, LONGEST_WAIT)) yield seconds * (0.8 + Math.random() * 0.4);
}

/** Sleeps, but not once the network is back, the person asks for it (``nudge``), or it no longer matters (``signal``). */
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

/** Does it again until the server answers; ``onwait`` hears how many seconds until the next try. */
export async function untilAnswered(action, { onwait, nudge, signal } = {}) {
  for (const wait of waits()) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof Unreachable) || signal?.aborted) throw error;
      const seconds = Math.max(wait, Math.min(error.after, 2 * LONGEST_WAIT));
      onwait?.(seconds);
      await sleep(seconds, { nudge, signal });
    }
  }
}
