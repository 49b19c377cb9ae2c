// @ts-check
// The form that plans a campaign: first what it would ask and cost, then, on a second press, the start.

import { path, post } from "../shared/api.js";
import { busy, button, el, name, onSubmit, put, setText, submitButton } from "../shared/dom.js";
import { count, splitCost } from "../shared/format.js";
import { announce, errorBox, noteList, say } from "../shared/messages.js";
import { defaultFor, isFor, KINDS, missingFor, PLATFORMS, settingGroups, settingLabel, suggestKind } from "./words.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { Setting, Study } from "./words.js" */
/**
 * @typedef {{ setting: Setting, input: HTMLInputElement | HTMLSelectElement, note: HTMLElement, node: HTMLElement,
 *   touched: boolean }} SettingField
 */

export class PlanForm {
  /** @type {Map<string, SettingField>} */
  #fields = new Map();
  /** @type {object | null} */
  #preview = null;
  #study;
  #named = false;

  /** @param {HTMLElement} place @param {Study} study @param {{ onStarted: () => void }} hooks */
  constructor(place, study, { onStarted }) {
    const [[, main], ...advanced] = settingGroups(study.settings);
    this.#study = study;
    this.onStarted = onStarted;
    this.result = el("div.m-plan-result");
    this.needs = el("p.notice.warn", { hidden: true });
    this.nameInput = this.#nameInput();
    this.scopeLabel = el("span");
    this.systems = scopeList(
      "systems",
      "Systems",
      study.systems.map((id) => [id, id]),
    );
    const about = { id: "plan-pyramid", "aria-describedby": "plan-pyramid-help", spellcheck: "false" };
    this.pyramid = el("input", about);
    this.pyramidField = field(
      this.pyramid,
      "Pyramid",
      "The pyramid whose units are judged. Empty: the crowd’s, or the only one.",
    );
    const mainFields = main.map((setting) => this.#field(setting));
    this.groups = advanced.map(([title, settings]) => {
      const fields = settings.map((setting) => this.#field(setting));
      if (title === "More") fields.unshift(this.pyramidField);
      const node = el("fieldset.m-group", el("legend", title), el("div.m-grid-fields", fields));
      return { fields, node };
    });
    const groups = this.groups.map((group) => group.node);
    const ask = submitButton("Preview counts and cost");
    this.form = el(
      "form.m-form",
      { autocomplete: "off" },
      this.#kinds(),
      field(
        this.nameInput,
        "Name of the campaign",
        "Letters, digits, dots, dashes; it is part of task ids and addresses.",
        "m-field-name",
      ),
      el("div.m-grid-fields", mainFields),
      this.#scope(),
      el("details.m-fold", el("summary", "Advanced settings"), groups),
      el("div.actions", ask, el("span.m-help", "Nothing starts yet.")),
      this.result,
    );
    this.form.addEventListener("input", (event) => this.#changed(/** @type {HTMLInputElement} */ (event.target)));
    onSubmit(this.form, ask, () => this.#ask());
    put(place, this.form);
    this.#adaptToKind();
  }

  /** What depends on the study's campaigns. @param {Study} study */
  update(study) {
    this.#study = study;
    this.#suggestName();
    this.#showNeeds();
  }

  // -- the fields --------------------------------------------------------------------------------------------

  #kinds() {
    const suggested = suggestKind(this.#study);
    const cards = Object.entries(KINDS).map(([kind, { title, line, paper }]) =>
      el(
        "label.m-card-choice",
        el("input", { type: "radio", name: "kind", value: kind, checked: kind === suggested }),
        el("span.m-card-title", title),
        el("span.m-help", line),
        el("span.m-paper", paper),
      ),
    );
    return el("fieldset.m-kinds", el("legend", "What should workers do?"), el("div.m-cards", cards), this.needs);
  }

  get kind() {
    return String(new FormData(this.form).get("kind"));
  }

  #nameInput() {
    const input = el("input", {
      id: "plan-name",
      required: true,
      maxlength: "60",
      pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*",
      title: "Letters, digits, dots, dashes and underscores; no spaces",
      "aria-describedby": "plan-name-help",
      spellcheck: "false",
    });
    input.addEventListener("input", () => {
      this.#named = input.value !== "";
    });
    return input;
  }

  #suggestName() {
    if (this.#named) return;
    const taken = new Set(this.#study.campaigns.map((campaign) => campaign.name));
    let number = 1;
    while (taken.has(`${this.kind}-${number}`)) number += 1;
    this.nameInput.value = `${this.kind}-${number}`;
  }

  /** @param {Setting} setting @returns {HTMLElement} */
  #field(setting) {
    const id = `plan-${setting.name}`;
    const input = settingInput(setting, id);
    const note = el("span.m-default");
    const help = el("p.m-help", { id: `${id}-help` }, setting.help ?? "", " ", note);
    const label = el("label", { for: id }, settingLabel(setting.name));
    const flag = setting.type === "bool";
    const parts = flag ? [el("div.m-check", input, label), help] : [label, input, help];
    const node = el("div", { class: flag ? "field m-field-check" : "field" }, parts);
    if (setting.name === "platform" && !setting.choices) node.append(platformList());
    const made = { setting, input, note, node, touched: false };
    input.addEventListener("input", () => {
      made.touched = true;
    });
    this.#fields.set(setting.name, made);
    return node;
  }

  #scope() {
    const topics = this.#study.topics.map(({ id, title }) => [id, title && title !== id ? `${id} – ${title}` : id]);
    const lists = [scopeList("topics", "Topics", topics), this.systems];
    return el("details.m-fold", el("summary", this.scopeLabel), el("div.m-scope", lists));
  }

  #showScope() {
    /** @param {"topics" | "systems"} field */
    const part = (field) => {
      const [all, chosen] = [this.#study[field].length, this.#picked(field).length];
      return chosen ? `${chosen} of ${all} ${field}` : `all ${all} ${all === 1 ? field.slice(0, -1) : field}`;
    };
    const parts = this.kind === "write" ? [part("topics")] : [part("topics"), part("systems")];
    setText(this.scopeLabel, `Which texts: ${parts.join(", ")}`);
  }

  /** @param {string} field */
  #picked = (field) => new FormData(this.form).getAll(field).map(String);

  // -- what depends on what ----------------------------------------------------------------------------------

  #adaptToKind() {
    const kind = this.kind;
    for (const each of this.#fields.values()) {
      const fallback = defaultFor(each.setting, kind);
      each.node.hidden = !isFor(each.setting.name, kind) || fallback === undefined;
      if (!each.touched) setValue(each, fallback);
      this.#showDefault(each);
    }
    this.pyramidField.hidden = kind !== "judge";
    this.systems.hidden = kind === "write";
    for (const group of this.groups) group.node.hidden = group.fields.every((node) => node.hidden);
    this.#suggestName();
    this.#showNeeds();
    this.#showScope();
  }

  /** @param {SettingField} field */
  #showDefault(field) {
    const fallback = defaultFor(field.setting, this.kind);
    const changed = !Object.is(read(field), fallback);
    field.node.classList.toggle("m-changed", changed);
    setText(field.note, changed ? `Default: ${shown(fallback)}.` : "");
  }

  #showNeeds() {
    const text = missingFor(this.kind, this.#study.counts);
    this.needs.hidden = !text;
    setText(this.needs, text);
  }

  /** @param {HTMLInputElement} input */
  #changed(input) {
    if (input.name === "kind") this.#adaptToKind();
    for (const each of this.#fields.values()) if (each.input === input) this.#showDefault(each);
    this.#showScope();
    if (this.#preview) this.#outdated();
  }

  #outdated() {
    this.#preview = null;
    put(this.result, el("p.m-help", "You changed something: preview again before you start."));
  }

  // -- asking and starting -----------------------------------------------------------------------------------

  #request() {
    /** @type {Record<string, unknown>} */
    const settings = {};
    for (const each of this.#fields.values()) {
      const value = read(each);
      const fallback = defaultFor(each.setting, this.kind);
      if (!each.node.hidden && !Object.is(value, fallback)) settings[each.setting.name] = value;
    }
    return {
      kind: this.kind,
      name: this.nameInput.value.trim(),
      settings,
      topics: this.#picked("topics"),
      systems: this.kind === "write" ? [] : this.#picked("systems"),
      pyramid: this.kind === "judge" ? this.pyramid.value.trim() || null : null,
      start: false,
    };
  }

  async #ask() {
    const request = this.#request();
    const text = JSON.stringify(request);
    try {
      const plan = await post("/api/manage/plan", request);
      if (text !== JSON.stringify(this.#request())) return this.#outdated();
      this.#preview = request;
      this.#showPlan(plan, request);
    } catch (error) {
      put(this.result, errorBox(error, "This cannot be planned"));
    }
  }

  /** @param {any} plan @param {{ name: string }} request */
  #showPlan(plan, request) {
    const problem = el("div");
    const start = button(`Start ${request.name}`, () => busy(start, () => this.#start(request, problem)), "primary");
    const heading = el("h3", { tabindex: "-1" }, "If you start it now");
    const [total, rest] = splitCost(plan.cost);
    /** @param {string} title @param {Child} value */
    const fact = (title, value) => el("div", el("dt", title), el("dd", value));
    const preview = el(
      "div.m-preview",
      heading,
      el(
        "dl.m-facts",
        fact("Tasks", count(plan.tasks)),
        fact("Assignments", count(plan.assignments)),
        fact("Cost when all is done", [total, el("span.m-help.m-cost-rest", rest)]),
      ),
      (plan.design ?? []).map((/** @type {string} */ sentence) => el("p", el("bdi", sentence))),
      noteList(plan.notes ?? [], { none: "Nothing is left out." }),
      problem,
      el(
        "div.actions",
        start,
        el("span.m-help", "Workers can take tasks at once. You can pause or close it at any time."),
      ),
    );
    put(this.result, preview);
    heading.focus({ preventScroll: true });
    this.result.scrollIntoView({ block: "nearest" });
    announce(`${count(plan.assignments)} assignments, ${plan.cost}`);
  }

  /** @param {{ name: string }} request @param {HTMLElement} problem */
  async #start(request, problem) {
    put(problem);
    try {
      await post("/api/manage/plan", { ...request, start: true });
    } catch (error) {
      return void put(problem, errorBox(error, "The campaign was not started"));
    }
    this.#preview = null;
    this.#named = false;
    const watch = el("a", { href: path`/manage/campaigns/${request.name}` }, "Watch it");
    const invite = el("a", { href: "#invitations" }, "invite workers");
    const running = el("strong", name(request.name), " is running. ");
    const started = el("p", { tabindex: "-1" }, running, watch, " or ", invite, ".");
    put(this.result, el("div.notice.good", started));
    started.focus();
    say(`${request.name} has started.`);
    this.onStarted();
  }
}

/** @param {HTMLInputElement} input @param {string} label @param {string} help @param {string} [kind] */
const field = (input, label, help, kind = "") =>
  el(
    "div",
    { class: `field ${kind}` },
    el("label", { for: input.id }, label),
    input,
    el("p.m-help", { id: `${input.id}-help` }, help),
  );

/** @param {string} field @param {string} title @param {string[][]} options values and what is shown for them */
function scopeList(field, title, options) {
  const boxes = options.map(([value, text]) =>
    el("label.m-check", el("input", { type: "checkbox", name: field, value }), name(text)),
  );
  return el(
    "fieldset.m-scope-list",
    el("legend", title),
    el("p.m-help", "Tick some to ask only about them; none ticked means all."),
    el("div.m-ticks", { tabindex: "0", role: "group", "aria-label": title }, boxes),
  );
}

/** @param {Setting} setting @param {string} id */
function settingInput(setting, id) {
  const about = { id, "aria-describedby": `${id}-help`, "data-setting": setting.name };
  if (setting.type === "bool") return el("input", { ...about, type: "checkbox" });
  if (setting.choices) {
    const options = setting.choices.map((text) => el("option", text));
    return el("select", about, options);
  }
  if (setting.type === "str") {
    const list = setting.name === "platform" ? "plan-platforms" : null;
    return el("input", { ...about, type: "text", spellcheck: "false", list });
  }
  const step = setting.type === "int" ? "1" : "any";
  return el("input", { ...about, type: "number", min: "0", step, required: true });
}

function platformList() {
  const options = PLATFORMS.map((value) => el("option", { value }));
  return el("datalist", { id: "plan-platforms" }, options);
}

/** @param {SettingField} field */
function read({ setting, input }) {
  if (setting.type === "bool") return /** @type {HTMLInputElement} */ (input).checked;
  if (setting.type === "str") return input.value;
  return input.value === "" ? null : Number(input.value);
}

/** @param {SettingField} field @param {unknown} value */
function setValue({ setting, input }, value) {
  if (value === undefined) return;
  if (setting.type === "bool") /** @type {HTMLInputElement} */ (input).checked = Boolean(value);
  else input.value = String(value ?? "");
}

/** @param {unknown} value */
const shown = (value) => (value === true ? "on" : value === false ? "off" : value === "" ? "empty" : String(value));
