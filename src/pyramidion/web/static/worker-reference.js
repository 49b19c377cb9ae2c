// The text that statements are written from: which of its sentences were used, and what is selected in it.

import { el } from "./worker-dom.js";

const STEM = 6;

function segments(text, granularity) {
  if (globalThis.Intl?.Segmenter) return [...new Intl.Segmenter(undefined, { granularity }).segment(text)];
  const pattern =
    granularity === "word" ? /[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+/gu : /[^.!?。！？]*[.!?。！？]*\s*/gu;
  return (text.match(pattern) ?? [])
    .filter(Boolean)
    .map((segment) => ({ segment, isWordLike: /[\p{L}\p{N}]/u.test(segment) }));
}

/** Words that carry content, roughly: long ones, numbers, and whatever is not written in Latin letters. */
function contentWords(text) {
  const words = segments(text, "word")
    .filter((part) => part.isWordLike)
    .map((part) => part.segment.toLowerCase());
  const telling = words.filter((word) => word.length > 3 || /[^a-z]/.test(word));
  return new Set((telling.length ? telling : words).map((word) => word.slice(0, STEM)));
}

export const squeeze = (text) => text.replace(/\s+/g, " ").trim();

/** A text as one span a sentence, character by character as it was, and a bar of its sentences. */
export function referenceText(text) {
  const sentences = segments(text, "sentence").map(({ segment }) => ({
    words: contentWords(segment),
    node: el("span", {}, segment.trimEnd()),
    space: segment.slice(segment.trimEnd().length), // not marked as used
    bit: el("span", { class: "bit" }),
    telling: /[\p{L}\p{N}]/u.test(segment),
    length: segment.length,
  }));
  for (const { bit, length } of sentences) bit.style.setProperty("flex-grow", String(length));
  const node = el(
    "div",
    { class: "text reference", dir: "auto" },
    sentences.map((sentence) => [sentence.node, sentence.space]),
  );
  const telling = sentences.filter((sentence) => sentence.telling);

  /** Mark the sentences that these statements come from; returns how many. */
  function show(statements) {
    const used = new Set(statements.flatMap((statement) => sources(statement, telling)));
    for (const sentence of telling) {
      sentence.node.classList.toggle("used", used.has(sentence));
      sentence.bit.classList.toggle("used", used.has(sentence));
    }
    return used.size;
  }

  return { node, bits: telling.map((sentence) => sentence.bit), size: telling.length, show, plain: squeeze(text) };
}

/** The sentence that has most of a statement's words, and any other that has nearly all of them. */
function sources(statement, sentences) {
  const words = contentWords(statement);
  if (!words.size) return [];
  const shares = sentences.map((sentence) => {
    const shared = [...words].filter((word) => sentence.words.has(word)).length;
    return shared < Math.min(2, words.size) ? 0 : shared / words.size;
  });
  const best = Math.max(...shares);
  return sentences.filter((_, index) => shares[index] >= 0.5 && (shares[index] === best || shares[index] >= 0.9));
}
