// @ts-check
// What is kept on this device. Private windows may refuse to keep anything: then nothing is read, and `write` says so.

export const device = {
  /** @param {string} name @returns {any} */
  read(name) {
    /** @type {string | null} */
    let text = null;
    try {
      text = localStorage.getItem(name);
      return JSON.parse(text ?? "null");
    } catch {
      return text; // null, or a plain word
    }
  },

  /** Whether it is kept now. @param {string} name @param {unknown} value */
  write(name, value) {
    try {
      localStorage.setItem(name, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },

  /** @param {string} name */
  remove(name) {
    try {
      localStorage.removeItem(name);
    } catch {
      // nothing was kept
    }
  },

  /** @param {string} prefix */
  names(prefix) {
    try {
      return Object.keys(localStorage).filter((name) => name.startsWith(prefix));
    } catch {
      return [];
    }
  },
};
