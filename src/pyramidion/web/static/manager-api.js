// Talking to the server: JSON in and out, one kind of error, the CSRF token on everything that changes something.

import { el } from "./manager-dom.js";

export class ApiError extends Error {
  /** `data` is all the server said, for pages that know more about a refusal than its reason. */
  constructor(message, status = 0, problems = [], data = null) {
    super(message);
    this.status = status;
    this.problems = problems;
    this.data = data;
  }
}

export const get = (path, options = {}) => send(path, options);

export function post(path, body) {
  return send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": document.querySelector("main").dataset.csrf },
    body: JSON.stringify(body),
  });
}

/** A path from fixed parts and names that may contain anything: path`/api/x/${name}`. */
export function path(parts, ...names) {
  return String.raw({ raw: parts }, ...names.map(encodeURIComponent));
}

async function send(url, options) {
  let response;
  try {
    response = await fetch(url, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server cannot be reached.");
  }
  const signedOut = response.status === 401 || (response.redirected && new URL(response.url).pathname === "/login");
  const data = signedOut ? null : await response.json().catch(() => null);
  if (signedOut) throw new ApiError("You are logged out. Reload the page to log in again.", 401);
  if (!response.ok) {
    const message = typeof data?.error === "string" ? data.error : `The server answered ${response.status}.`;
    throw new ApiError(message, response.status, Array.isArray(data?.problems) ? data.problems : [], data);
  }
  if (data === null) throw new ApiError("The server sent something that is not JSON.", response.status);
  return data;
}

const sentence = (problem) => {
  if (problem === null || typeof problem !== "object") return String(problem);
  return problem.where ? `${problem.where}: ${problem.what}` : String(problem.what ?? "");
};

/** An error as something to show: the message, and every problem that it names. */
export function errorBox(error, title = "This did not work") {
  const problems = (error.problems ?? []).map(sentence).filter((text) => text && text !== error.message);
  return el(
    "div",
    { class: "notice bad", role: "alert" },
    el("p", {}, el("strong", {}, `${title}. `), error.message),
    problems.length > 0 &&
      el(
        "ul",
        {},
        problems.map((text) => el("li", {}, text)),
      ),
    error.status === 401 && el("p", {}, el("a", { href: loginAddress() }, "Log in")),
  );
}

function loginAddress() {
  return `/login?next=${encodeURIComponent(location.pathname)}`;
}
