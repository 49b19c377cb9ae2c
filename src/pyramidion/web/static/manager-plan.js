// The form that plans a campaign: first what it would ask and cost, then, on a second press, the start.

import { errorBox, path, post } from "./manager-api.js";
import { busy, count, el, name, put, setText, splitCost } from "./manager-dom.js";
import { announce, say } from "./manager-live.js";
import { noteList } from "./manager-notes.js";
import { isFor, KINDS, PLATFORMS, settingGroups, settingLabel } from "./manager-words.js";

export class PlanForm {
  #study = null;
  #fields = new Map();
  #preview = null;

  constructor(place, { onStarted }) {
    this.place = place;
    this.onStarted = onStarted;
  }

  /** Draw the form when the study is first known; later only what depends on its campaigns. */
  update(study) {
    const first = this.#study === null;
    this.#study = study;
    if (first) this.#draw();
    else this.#suggestName();
    this.#showNeeds();
  }

  #draw() {
    const groups = settingGroups(this.#study.settings);
    const [[, main], ...advanced] = groups;
    this.result = el("div", { class: "m-plan-result" });
    this.form = el(
      "form",
      { class: "m-form", autocomplete: "off" },
      this.#kinds(),
      this.#name(),
      el(
        "div",
        { class: "m-grid-fields" },
        main.map((setting) => this.#field(setting)),
      ),
      this.#scope(),
      this.#advanced(advanced),
      el(
        "div",
        { class: "actions" },
        (this.ask = el("button", { type: "submit", class: "button primary" }, "Preview counts and cost")),
        el("span", { class: "m-help" }, "Nothing starts yet."),
      ),
      this.result,
    );
    this.form.addEventListener("input", (event) => this.#changed(event));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      busy(this.ask, () => this.#ask());
    });
    put(this.place, this.form);
    this.#adaptToKind();
  }

  // -- the fields --------------------------------------------------------------------------------------------

  #kinds() {
    const suggested = suggestKind(this.#study);
    const cards = Object.entries(KINDS).map(([kind, { title, line, paper }]) =>
      el(
        "label",
        { class: "m-card-choice" },
        el("input", { type: "radio", name: "kind", value: kind, checked: kind === suggested }),
        el("span", { class: "m-card-title" }, title),
        el("span", { class: "m-help" }, line),
        el("span", { class: "m-paper" }, paper),
      ),
    );
    this.needs = el("p", { class: "notice warn", hidden: true });
    return el(
      "fieldset",
      { class: "m-kinds" },
      el("legend", {}, "What should workers do?"),
      el("div", { class: "m-cards" }, cards),
      this.needs,
    );
  }

  get kind() {
    return this.form.elements.kind.value;
  }

  #name() {
    this.nameInput = el("input", {
      id: "plan-name",
      required: true,
      maxlength: "60",
      pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*",
      title: "Letters, digits, dot, dash and underscore; no spaces",
      "aria-describedby": "plan-name-help",
      spellcheck: "false",
    });
    this.nameInput.addEventListener("input", () => (this.named = this.nameInput.value !== ""));
    return el(
      "div",
      { class: "field m-field-name" },
      el("label", { for: "plan-name" }, "Name of the campaign"),
      this.nameInput,
      el(
        "p",
        { class: "m-help", id: "plan-name-help" },
        "Letters, digits, dots, dashes; it is part of task ids and addresses.",
      ),
    );
  }

  #suggestName() {
    if (this.named) return;
    const taken = new Set(this.#study.campaigns.map((campaign) => campaign.name));
    let number = 1;
    while (taken.has(`${this.kind}-${number}`)) number += 1;
    this.nameInput.value = `${this.kind}-${number}`;
  }

  #field(setting) {
    const id = `plan-${setting.name}`;
    const input = settingInput(setting, id);
    const note = el("span", { class: "m-default" });
    const help = el("p", { class: "m-help", id: `${id}-help` }, setting.help ?? "", " ", note);
    const label = el("label", { for: id }, settingLabel(setting.name));
    const flag = setting.type === "bool";
    const parts = flag ? [el("div", { class: "m-check" }, input, label), help] : [label, input, help];
    const node = el("div", { class: flag ? "field m-field-check" : "field" }, parts);
    if (setting.name === "platform" && !setting.choices) node.append(platformList());
    input.addEventListener("input", () => (this.#fields.get(setting.name).touched = true));
    this.#fields.set(setting.name, { setting, input, note, node, touched: false });
    return node;
  }

  #scope() {
    const { topics, systems } = this.#study;
    const label = el("span");
    const lists = [
      ["topics", "Topics", topics.map(({ id, title }) => [id, title && title !== id ? `${id} – ${title}` : id])],
      ["systems", "Systems", systems.map((id) => [id, id])],
    ].map(([field, title, options]) => this.#scopeList(field, title, options));
    this.scopeLabel = () => {
      const part = (field, all, one, many) => {
        const chosen = this.#picked(field).length;
        return chosen ? `${chosen} of ${all} ${many}` : `all ${all} ${all === 1 ? one : many}`;
      };
      const ofTopics = part("topics", topics.length, "topic", "topics");
      const ofSystems = this.kind === "write" ? "" : `, ${part("systems", systems.length, "system", "systems")}`;
      setText(label, `Which texts: ${ofTopics}${ofSystems}`);
    };
    return el("details", { class: "m-fold" }, el("summary", {}, label), el("div", { class: "m-scope" }, lists));
  }

  #scopeList(field, title, options) {
    const boxes = options.map(([value, text]) =>
      el("label", { class: "m-check" }, el("input", { type: "checkbox", name: field, value }), name(text)),
    );
    const help = `Tick some to ask only about them; none ticked means all.`;
    return el(
      "fieldset",
      { class: "m-scope-list", "data-field": field },
      el("legend", {}, title),
      el("p", { class: "m-help" }, help),
      el("div", { class: "m-ticks", tabindex: "0", role: "group", "aria-label": title }, boxes),
    );
  }

  #picked(field) {
    return [...this.form.querySelectorAll(`input[name="${field}"]:checked`)].map((box) => box.value);
  }

  #advanced(groups) {
    this.pyramid = el("input", {
      id: "plan-pyramid",
      "aria-describedby": "plan-pyramid-help",
      spellcheck: "false",
    });
    this.pyramidField = el(
      "div",
      { class: "field" },
      el("label", { for: "plan-pyramid" }, "Pyramid"),
      this.pyramid,
      el(
        "p",
        { class: "m-help", id: "plan-pyramid-help" },
        "Whose units are judged, by name. Empty: the crowd’s, or the only one.",
      ),
    );
    this.groups = groups.map(([title, settings]) => {
      const fields = settings.map((setting) => this.#field(setting));
      if (title === "More") fields.unshift(this.pyramidField);
      const grid = el("div", { class: "m-grid-fields" }, fields);
      return { fields, node: el("fieldset", { class: "m-group" }, el("legend", {}, title), grid) };
    });
    return el(
      "details",
      { class: "m-fold" },
      el("summary", {}, "Advanced settings"),
      this.groups.map((group) => group.node),
    );
  }

  // -- what depends on what ----------------------------------------------------------------------------------

  #adaptToKind() {
    const kind = this.kind;
    for (const field of this.#fields.values()) {
      const fallback = defaultFor(field.setting, kind);
      field.node.hidden = !isFor(field.setting.name, kind) || fallback === undefined;
      if (!field.touched) setValue(field, fallback);
      this.#showDefault(field);
    }
    this.pyramidField.hidden = kind !== "judge";
    this.form.querySelector('[data-field="systems"]').hidden = kind === "write";
    for (const group of this.groups) group.node.hidden = group.fields.every((field) => field.hidden);
    this.#suggestName();
    this.#showNeeds();
    this.scopeLabel();
  }

  #showDefault(field) {
    const fallback = defaultFor(field.setting, this.kind);
    const changed = !Object.is(read(field), fallback);
    field.node.classList.toggle("m-changed", changed);
    setText(field.note, changed ? `Default: ${shown(fallback)}.` : "");
  }

  #showNeeds() {
    const { counts } = this.#study;
    const needs = {
      write: counts.references ? "" : "The study has no references yet: import some first.",
      judge: !counts.peers
        ? "The study has no summaries of systems yet: import some first."
        : counts.units
          ? ""
          : "There are no units to judge yet: run a writing campaign and make units from it, or import a pyramid.",
      rate: counts.peers ? "" : "The study has no summaries of systems yet: import some first.",
      compare: counts.systems > 1 ? "" : "Comparing needs at least two systems.",
    };
    const text = needs[this.kind] ?? "";
    this.needs.hidden = !text;
    setText(this.needs, text);
  }

  #changed(event) {
    if (event.target.name === "kind") this.#adaptToKind();
    else {
      for (const field of this.#fields.values()) if (field.input === event.target) this.#showDefault(field);
      this.scopeLabel();
    }
    if (this.#preview) this.#outdated();
  }

  #outdated() {
    this.#preview = null;
    put(this.result, el("p", { class: "m-help" }, "Something was changed: preview again before you start."));
  }

  // -- asking and starting -----------------------------------------------------------------------------------

  #request(start) {
    const settings = {};
    for (const field of this.#fields.values()) {
      const value = read(field);
      const fallback = defaultFor(field.setting, this.kind);
      if (!field.node.hidden && !Object.is(value, fallback)) settings[field.setting.name] = value;
    }
    return {
      kind: this.kind,
      name: this.nameInput.value.trim(),
      settings,
      topics: this.#picked("topics"),
      systems: this.kind === "write" ? [] : this.#picked("systems"),
      pyramid: this.kind === "judge" ? this.pyramid.value.trim() || null : null,
      start,
    };
  }

  async #ask() {
    const request = this.#request(false);
    const text = JSON.stringify(request);
    try {
      const plan = await post("/api/manage/plan", request);
      if (text !== JSON.stringify(this.#request(false))) return this.#outdated();
      this.#preview = request;
      this.#showPlan(plan, request);
    } catch (error) {
      put(this.result, errorBox(error, "This cannot be planned"));
    }
  }

  #showPlan(plan, request) {
    const start = el("button", { type: "button", class: "button primary" }, `Start ${request.name}`);
    const problem = el("div");
    start.addEventListener("click", () => busy(start, () => this.#start(request, problem)));
    const heading = el("h3", { tabindex: "-1" }, "If you start it now");
    const [total, rest] = splitCost(plan.cost);
    const fact = (title, value) => el("div", {}, el("dt", {}, title), el("dd", {}, value));
    put(
      this.result,
      el(
        "div",
        { class: "m-preview" },
        heading,
        el(
          "dl",
          { class: "m-facts" },
          fact("Tasks", count(plan.tasks)),
          fact("Assignments", count(plan.assignments)),
          fact("Cost when all is done", [total, el("span", { class: "m-help m-cost-rest" }, rest)]),
        ),
        noteList(plan.notes ?? [], { none: "Nothing is left out." }),
        problem,
        el(
          "div",
          { class: "actions" },
          start,
          el("span", { class: "m-help" }, "Workers can take tasks at once. You can pause or close it at any time."),
        ),
      ),
    );
    heading.focus({ preventScroll: true });
    this.result.scrollIntoView({ block: "nearest" });
    announce(`${count(plan.assignments)} assignments, ${plan.cost}`);
  }

  async #start(request, problem) {
    put(problem);
    try {
      await post("/api/manage/plan", { ...request, start: true });
    } catch (error) {
      return void put(problem, errorBox(error, "It was not started"));
    }
    this.#preview = null;
    this.named = false;
    const done = el("p", { tabindex: "-1" }, el("strong", {}, name(request.name), " is running. "));
    done.append(
      el("a", { href: path`/manage/campaigns/${request.name}` }, "Watch it"),
      " or ",
      el("a", { href: "#invitations" }, "invite workers"),
      ".",
    );
    put(this.result, el("div", { class: "notice good" }, done));
    done.focus();
    say(`${request.name} has started.`);
    this.onStarted(request.name);
  }
}

/** What comes next in the study, as a guess. */
export function suggestKind({ counts, campaigns }) {
  const has = (kind) => campaigns.some((campaign) => campaign.kind === kind);
  if (counts.units && !has("judge")) return "judge";
  return has("write") ? "judge" : "write";
}

function settingInput(setting, id) {
  const about = { id, "aria-describedby": `${id}-help`, "data-setting": setting.name };
  if (setting.type === "bool") return el("input", { ...about, type: "checkbox" });
  if (setting.choices) {
    return el(
      "select",
      { ...about },
      setting.choices.map((text) => el("option", {}, text)),
    );
  }
  if (setting.type === "str") {
    const list = setting.name === "platform" ? "plan-platforms" : null;
    return el("input", { ...about, type: "text", spellcheck: "false", list });
  }
  const step = setting.type === "int" ? "1" : "any";
  return el("input", { ...about, type: "number", min: "0", step, required: true });
}

const platformList = () =>
  el(
    "datalist",
    { id: "plan-platforms" },
    PLATFORMS.map((value) => el("option", { value })),
  );

/** The default of a setting for a kind of campaign; undefined where that kind does not have it. */
function defaultFor(setting, kind) {
  const given = setting.default_by_kind;
  if (given === null || typeof given !== "object") return given;
  return Object.hasOwn(given, kind) ? given[kind] : undefined;
}

function read({ setting, input }) {
  if (setting.type === "bool") return input.checked;
  if (setting.type === "str") return input.value;
  return input.value === "" ? null : Number(input.value);
}

function setValue({ setting, input }, value) {
  if (value === undefined) return;
  if (setting.type === "bool") input.checked = Boolean(value);
  else input.value = String(value ?? "");
}

const shown = (value) => (value === true ? "on" : value === false ? "off" : value === "" ? "empty" : String(value));
