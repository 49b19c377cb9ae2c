// @ts-check
// The settings of a campaign as fields, made from the list that the server has: a setting that is new there is here too.

import { el, setText } from "../shared/dom.js";

/**
 * @typedef {{ name: string, label: string, help: string, group: string, kinds: string[], type: string,
 *   default_by_kind: Record<string, unknown>, choices: [value: string, title: string][] | null, low: number | null, high: number | null,
 *   longest: number, fixed: string }} Setting
 * @typedef {{ setting: Setting, input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement, note: HTMLElement,
 *   wrong: HTMLElement, node: HTMLElement, touched: boolean }} SettingField
 */

/** From so many characters on a text gets several lines. */
const LONG = 501;

/**
 * Settings in groups, in the order of the list: the first group, without a title, is shown at once.
 * @param {Setting[]} settings
 * @returns {[title: string, settings: Setting[]][]}
 */
export function settingGroups(settings) {
  const titles = [...new Set(["", ...settings.map(({ group }) => group)])];
  return titles.map((title) => [title, settings.filter(({ group }) => group === title)]);
}

export class SettingFields {
  /** @type {Map<string, SettingField>} */
  #fields = new Map();
  #kind = "";

  /** @param {Setting[]} settings @param {Record<string, unknown>} [held] values that differ from the defaults */
  constructor(settings, held = {}) {
    const [[, main], ...others] = settingGroups(settings);
    this.main = el(
      "div.m-grid-fields",
      main.map((setting) => this.#make(setting)),
    );
    this.groups = others.map(([title, some]) => {
      const fields = some.map((setting) => this.#make(setting));
      return { fields, node: el("fieldset.m-group", el("legend", title), el("div.m-grid-fields", fields)) };
    });
    for (const [name, value] of Object.entries(held)) {
      const field = this.#fields.get(name);
      if (!field) continue;
      setValue(field, value);
      field.touched = true;
    }
  }

  /** @param {Setting} setting */
  #make(setting) {
    const id = `plan-${setting.name}`;
    const input = settingInput(setting, id);
    const note = el("span.m-default");
    const wrong = el("p.m-wrong", { id: `${id}-wrong` });
    const help = el("p.m-help", { id: `${id}-help` }, setting.help, " ", note);
    const label = el("label", { for: id }, setting.label);
    const flag = setting.type === "bool";
    const parts = flag ? [el("div.m-check", input, label), wrong, help] : [label, input, wrong, help];
    const long = input instanceof HTMLTextAreaElement ? " m-field-long" : "";
    const node = el("div", { class: flag ? "field m-field-check" : `field${long}` }, parts);
    const made = { setting, input, note, wrong, node, touched: false };
    input.addEventListener("input", () => {
      made.touched = true;
      this.#mark(made, "");
      this.#showDefault(made);
    });
    this.#fields.set(setting.name, made);
    return node;
  }

  /** Show the fields of a kind, with its defaults where nobody has typed anything. @param {string} kind */
  adapt(kind) {
    this.#kind = kind;
    for (const field of this.#fields.values()) {
      field.node.hidden = !field.setting.kinds.includes(kind);
      if (!field.touched) setValue(field, field.setting.default_by_kind[kind]);
      this.#showDefault(field);
    }
    for (const { node, fields } of this.groups) node.hidden = fields.every((each) => each.hidden);
  }

  /** People have begun: what may not change says why. */
  lock() {
    for (const { setting, input, wrong, node } of this.#fields.values()) {
      if (!setting.fixed) continue;
      input.disabled = true;
      node.append(el("p.m-help.m-fixed", { id: `${input.id}-fixed` }, setting.fixed));
      input.setAttribute("aria-describedby", `${input.id}-help ${wrong.id} ${input.id}-fixed`);
    }
  }

  /** @param {SettingField} field */
  #showDefault(field) {
    const fallback = field.setting.default_by_kind[this.#kind];
    const changed = !Object.is(read(field), fallback);
    field.node.classList.toggle("m-changed", changed);
    setText(field.note, changed ? `Default: ${shown(fallback)}.` : "");
  }

  /** What differs from the defaults. */
  values() {
    const chosen = [...this.#fields.values()].filter(({ node }) => !node.hidden);
    return Object.fromEntries(
      chosen
        .map((field) => /** @type {const} */ ([field.setting, read(field)]))
        .filter(([setting, value]) => !Object.is(value, setting.default_by_kind[this.#kind]))
        .map(([setting, value]) => [setting.name, value]),
    );
  }

  /** Whether every number is one; where not, it says so beside the field. */
  check() {
    const empty = [...this.#fields.values()].filter((field) => !field.node.hidden && read(field) === null);
    for (const field of empty) this.#mark(field, "Enter a number.");
    if (empty.length) reveal(empty[0].input);
    return !empty.length;
  }

  /**
   * Put what the server says about settings beside them; returns the problems about anything else.
   * @param {{ where?: string, what?: string }[]} problems
   */
  show(problems) {
    const first = problems.map((problem) => this.#about(problem)).find(Boolean);
    for (const problem of problems) {
      const field = this.#about(problem);
      if (field) this.#mark(field, `${field.setting.label} ${problem.what ?? ""}`.trim());
    }
    if (first) reveal(first.input);
    return problems.filter((problem) => !this.#about(problem));
  }

  /** @param {{ where?: string }} problem */
  #about({ where = "" }) {
    return this.#fields.get(where) ?? this.#fields.get(where.split(".")[2] ?? "");
  }

  /** @param {SettingField} field @param {string} text */
  #mark({ input, wrong }, text) {
    setText(wrong, text);
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

/** Open what hides a field, and go there. @param {HTMLElement} input */
export function reveal(input) {
  for (let node = input.closest("details"); node; node = node.parentElement?.closest("details") ?? null)
    node.open = true;
  input.focus();
}

/** @param {Setting} setting @param {string} id */
function settingInput(setting, id) {
  const about = { id, "aria-describedby": `${id}-help ${id}-wrong`, "data-setting": setting.name };
  if (setting.type === "bool") return el("input", { ...about, type: "checkbox" });
  if (setting.choices) {
    return el(
      "select",
      about,
      setting.choices.map(([value, title]) => el("option", { value }, title)),
    );
  }
  if (setting.type === "str") {
    const text = { ...about, spellcheck: "false", maxlength: String(setting.longest) };
    return setting.longest < LONG
      ? el("input", { ...text, type: "text" })
      : el("textarea", { ...text, rows: "4", spellcheck: "true" });
  }
  const step = setting.type === "int" ? "1" : "any";
  return el("input", { ...about, type: "number", min: setting.low ?? "0", max: setting.high, step });
}

/** @param {SettingField} field */
function read({ setting, input }) {
  if (setting.type === "bool") return /** @type {HTMLInputElement} */ (input).checked;
  if (setting.type === "str") return input.value;
  return input.value === "" ? null : Number(input.value);
}

/** @param {SettingField} field @param {unknown} value */
function setValue({ setting, input }, value) {
  if (setting.type === "bool") /** @type {HTMLInputElement} */ (input).checked = Boolean(value);
  else input.value = String(value ?? "");
}

/** @param {unknown} value */
const shown = (value) => (value === true ? "on" : value === false ? "off" : value === "" ? "empty" : String(value));
