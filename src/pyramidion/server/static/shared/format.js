// @ts-check
// Numbers, times and amounts as people read them.

import { el } from "./dom.js";

const whole = new Intl.NumberFormat("en");
const stamp = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const NONE = "–";

/** @param {unknown} value @returns {value is number} */
export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
/** @param {unknown} number */
export const count = (number) => (isNumber(number) ? whole.format(number) : NONE);
/** @param {unknown} number @param {number} [digits] */
export const fixed = (number, digits = 2) => (isNumber(number) ? number.toFixed(digits).replace("-", "−") : NONE);
/** @param {number} part @param {number} total */
export const share = (part, total) => (total > 0 ? Math.min(part / total, 1) : 0);
/** @param {string} text */
export const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/**
 * Whole percents that say 100 only when all is done, and 0 only when nothing is.
 * @param {number} part
 * @param {number} total
 */
export function percent(part, total) {
  const value = 100 * share(part, total);
  if (value > 0 && value < 1) return "<1%";
  return `${value < 100 ? Math.min(Math.round(value), 99) : 100}%`;
}

/** @param {number} number @param {string} one @param {string} [many] */
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** @param {unknown} seconds */
export function duration(seconds) {
  if (!isNumber(seconds)) return NONE;
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  const rounded = Math.round(seconds);
  if (rounded < 120) return `${rounded} s`;
  const [hours, minutes] = [Math.floor(rounded / 3600), Math.floor((rounded % 3600) / 60)];
  const parts = hours ? { h: hours, min: minutes } : { min: minutes, s: rounded % 60 };
  const shown = Object.entries(parts).filter(([, size]) => size);
  return shown.map(([unit, size]) => `${size} ${unit}`).join(" ");
}

/** @param {unknown} unix seconds since 1970 */
export function when(unix) {
  if (!isNumber(unix)) return NONE;
  const date = new Date(unix * 1000);
  return Number.isNaN(date.getTime()) ? NONE : el("time", { datetime: date.toISOString() }, stamp.format(date));
}

/** @param {Date} date */
export const clock = (date) => clockTime.format(date);

/** "$2.16 for 4 assignments (...)" as the amount and the rest. @param {string | null | undefined} cost */
export function splitCost(cost) {
  const parts = /^(.*?) (for .*)$/s.exec(cost ?? "");
  return parts ? parts.slice(1) : [cost ?? NONE, ""];
}

/** The beginning of a text, without cutting a character in half. @param {string} text @param {number} length */
export const beginning = (text, length) => text.slice(0, length).replace(/\p{Surrogate}$/u, "");
