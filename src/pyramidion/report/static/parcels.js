// @ts-check
// What a page carries with it, packed, and files that leave it.

import { byId, el } from "../../server/static/shared/dom.js";

/** A parcel's text: gzip in base64, unpacked once it is asked for. @param {string} id */
export async function unpack(id) {
  const bytes = Uint8Array.from(atob(String(byId(id).textContent)), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** @param {string} name @param {string} text @param {string} type */
export function saveFile(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
