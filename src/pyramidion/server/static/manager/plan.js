// @ts-check
// The form of a campaign: first what it would ask and cost, then, on a second press, it is created as a draft, which
// workers get nothing of until it is opened. The same form edits a campaign.

import { call, path, post } from "../shared/api.js";
import { busy, button, el, name, onSubmit, put, setText, submitButton } from "../shared/dom.js";
import { count, splitCost } from "../shared/format.js";
import { announce, errorBox, noteList, say } from "../shared/messages.js";
import { InstructionsEditor, isAboutInstructions } from "./instructions.js";
import { reveal, SettingFields } from "./settings.js";
import { UnitPicker } from "./unit-picker.js";
import { KINDS, kindTitle, missingFor, suggestKind } from "./words.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { Content } from "./instructions.js" */
/** @import { Setting } from "./settings.js" */
/** @import { Study } from "./words.js" */
/**
 * @typedef {{ settings: Setting[], pyramids: string[], usual_pyramid: string,
 *   simulated_pyramids: string[], instructions: Record<string, Content> }} FormData_ what /api/manage/form says
 * @typedef {{ kind: string, name: string, state: string, draft: boolean, settings: Record<string, unknown>,
 *   topics: string[], systems: string[], pyramid: string | null, without: [string, string][],
 *   instructions: Content }} Held a campaign as it is, for editing
 */

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/;

export class PlanForm {
  /** @type {object | null} */
  #preview = null;
  #study;
  #named = false;

  /**
   * @param {HTMLElement} place
   * @param {Study} study
   * @param {FormData_} offers
   * @param {{ held?: Held | null, onStarted: () => void }} options
   */
  constructor(place, study, offers, { held = null, onStarted }) {
    this.#study = study;
    this.held = held;
    this.begun = held !== null && !held.draft;
    this.onStarted = onStarted;
    this.result = el("div.m-plan-result");
    this.needs = el("p.notice.warn", { hidden: true });
    this.scopeLabel = el("span");
    this.settings = new SettingFields(offers.settings, held?.settings);
    const content = held && { kind: held.kind, content: held.instructions, open: held.draft };
    this.instructions = new InstructionsEditor(offers.instructions, content);
    const outdated = () => this.#outdated();
    const simulated = offers.simulated_pyramids;
    this.units = new UnitPicker({ without: held?.without ?? [], simulated, locked: this.begun, onChange: outdated });
    this.pyramid = pyramidSelect(offers.pyramids, held?.pyramid || offers.usual_pyramid, simulated);
    this.nameInput = this.#nameInput();
    this.form = this.#build();
    this.form.addEventListener("input", (event) => this.#changed(/** @type {HTMLInputElement} */ (event.target)));
    put(place, this.form);
    this.#adaptToKind();
    if (this.begun) this.#lock();
  }

  /** What depends on the study's campaigns. @param {Study} study */
  update(study) {
    this.#study = study;
    this.#suggestName();
    this.#showNeeds();
  }

  // -- the fields --------------------------------------------------------------------------------------------

  #build() {
    const ask = submitButton(this.begun ? "Save changes" : "Preview counts and cost");
    const look = button("Preview as a worker", () => busy(look, () => this.#look()));
    const { topics, systems } = this.#study;
    const titles = topics.map(({ id, title }) => [id, title && title !== id ? `${id} – ${title}` : id]);
    this.systems = scopeList(
      "systems",
      "Systems",
      systems.map((id) => [id, id]),
      this.held?.systems,
    );
    const lists = [scopeList("topics", "Topics", titles, this.held?.topics), this.systems];
    const form = el(
      "form.m-form",
      { autocomplete: "off", novalidate: true },
      this.#kinds(),
      this.held ? null : this.nameField,
      this.settings.main,
      this.pyramid.node,
      el("details.m-fold", el("summary", this.scopeLabel), el("div.m-scope", lists)),
      this.units.node,
      this.instructions.node,
      el(
        "details.m-fold",
        el("summary", "Advanced settings"),
        this.settings.groups.map(({ node }) => node),
      ),
      el("div.actions", ask, !this.begun && look, el("span.m-help", this.begun ? "" : "Nothing is stored yet.")),
      this.result,
    );
    onSubmit(form, ask, () => (this.begun ? this.#save(null) : this.#ask()));
    return form;
  }

  #kinds() {
    const suggested = this.held?.kind ?? suggestKind(this.#study);
    if (this.held) return el("input", { type: "hidden", name: "kind", value: suggested });
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
    const id = "plan-name";
    const input = el("input", {
      id,
      maxlength: "60",
      "aria-describedby": `${id}-help ${id}-wrong`,
      spellcheck: "false",
    });
    this.nameWrong = el("p.m-wrong", { id: `${id}-wrong` });
    const help = "Letters, digits, dots, dashes; it is part of task ids and addresses.";
    this.nameField = el(
      "div.field.m-field-name",
      el("label", { for: id }, "Name of the campaign"),
      input,
      this.nameWrong,
      el("p.m-help", { id: `${id}-help` }, help),
    );
    input.addEventListener("input", () => {
      this.#named = input.value !== "";
      this.#markName("");
    });
    return input;
  }

  /** @param {string} text */
  #markName(text) {
    if (this.nameWrong) setText(this.nameWrong, text);
    if (text) this.nameInput.setAttribute("aria-invalid", "true");
    else this.nameInput.removeAttribute("aria-invalid");
  }

  #suggestName() {
    if (this.#named || this.held) return;
    const taken = new Set(this.#study.campaigns.map((campaign) => campaign.name));
    let number = 1;
    while (taken.has(`${this.kind}-${number}`)) number += 1;
    this.nameInput.value = `${this.kind}-${number}`;
  }

  #showScope() {
    /** @param {"topics" | "systems"} field */
    const part = (field) => {
      const [all, chosen] = [this.#study[field].length, this.#picked(field).length];
      return chosen ? `${chosen} of ${all} ${field}` : `all ${all} ${all === 1 ? field.slice(0, -1) : field}`;
    };
    const parts = this.kind === "write" ? [part("topics")] : [part("topics"), part("systems")];
    setText(this.scopeLabel, `Which texts: ${parts.join(", ")}`);
    this.units.restrict(this.pyramid.input.value, this.#picked("topics"));
  }

  /** @param {string} field */
  #picked = (field) => new FormData(this.form).getAll(field).map(String);

  // -- what depends on what ----------------------------------------------------------------------------------

  #adaptToKind() {
    const kind = this.kind;
    this.settings.adapt(kind);
    this.instructions.adapt(kind);
    this.pyramid.node.hidden = kind !== "judge" || this.pyramid.input.options.length < 2;
    this.units.node.hidden = kind !== "judge";
    if (this.systems) this.systems.hidden = kind === "write";
    this.#suggestName();
    this.#showNeeds();
    this.#showScope();
  }

  #lock() {
    this.settings.lock();
    this.pyramid.input.disabled = true;
    for (const box of this.form.querySelectorAll('input[name="topics"], input[name="systems"]')) {
      box.setAttribute("disabled", "");
    }
  }

  #showNeeds() {
    const text = missingFor(this.kind, this.#study.counts);
    this.needs.hidden = !text;
    setText(this.needs, text);
  }

  /** @param {HTMLInputElement} input */
  #changed(input) {
    if (input.name === "kind") this.#adaptToKind();
    if (input.name === "topics" || input.name === "systems" || input.id === this.pyramid.input.id) this.#showScope();
    this.#outdated();
  }

  #outdated() {
    if (!this.#preview) return;
    this.#preview = null;
    put(this.result, el("p.m-help", "You changed something: preview again before you go on."));
  }

  // -- asking, creating, saving ------------------------------------------------------------------------------

  #request() {
    const { kind, held } = this;
    const scope = this.begun && held ? held : { topics: this.#picked("topics"), systems: this.#picked("systems") };
    return {
      kind,
      name: held?.name ?? this.nameInput.value.trim(),
      settings: this.settings.values(),
      topics: scope.topics,
      systems: kind === "write" ? [] : scope.systems,
      pyramid: kind === "judge" ? this.pyramid.input.value || null : null,
      without: kind === "judge" ? this.units.value() : [],
      instructions: this.instructions.value(),
    };
  }

  /** Whether it can be sent at all; where not, the field says why. */
  #check() {
    const named = Boolean(this.held) || NAME.test(this.nameInput.value.trim());
    this.#markName(named ? "" : "Give it a name of letters, digits, dots, dashes or _, without spaces.");
    if (!named) this.nameInput.focus();
    return named && this.settings.check();
  }

  /** What is wrong, beside the fields where it belongs to one. @param {any} error @param {string} title */
  #refuse(error, title) {
    const rest = this.settings.show(error.problems ?? []);
    const about = rest.filter(isAboutInstructions);
    if (about.length) this.instructions.node.open = true;
    put(this.result, errorBox(Object.assign(error, { problems: error.problems ?? [] }), title));
    if (about.length) reveal(/** @type {HTMLElement} */ (this.instructions.node.querySelector("summary")));
  }

  /** A page as workers would see it, without storing anything. */
  async #look() {
    if (!this.#check()) return;
    const tab = open("about:blank", "_blank");
    try {
      const { address } = await post("/api/manage/preview", this.#request());
      if (tab) tab.location = address;
      else location.assign(address);
    } catch (error) {
      tab?.close();
      this.#refuse(error, "There is nothing to preview yet");
    }
  }

  async #ask() {
    if (!this.#check()) return;
    const request = this.#request();
    const text = JSON.stringify(request);
    try {
      const plan = await post("/api/manage/plan", request);
      if (text !== JSON.stringify(this.#request())) return this.#outdated();
      this.#preview = request;
      this.#showPlan(plan, request);
    } catch (error) {
      this.#refuse(error, "This cannot be planned");
    }
  }

  /** @param {any} plan @param {{ name: string }} request */
  #showPlan(plan, request) {
    const problem = el("div");
    const title = this.held ? "Save changes" : `Create ${request.name}`;
    const work = () => (this.held ? this.#save(problem) : this.#create(request, problem));
    const go = button(title, () => busy(go, work), "primary");
    const heading = el("h3", { tabindex: "-1" }, "If you start it now");
    const [total, rest] = splitCost(plan.cost);
    /** @param {string} label @param {Child} value */
    const fact = (label, value) => el("div", el("dt", label), el("dd", value));
    const preview = el(
      "div.m-preview",
      heading,
      el(
        "dl.m-facts",
        fact("Tasks", count(plan.tasks)),
        fact("Assignments", count(plan.assignments)),
        fact("Cost when all is done", [total, el("span.m-help.m-cost-rest", rest)]),
      ),
      plan.time && el("p", plan.time),
      (plan.design ?? []).map((/** @type {string} */ sentence) => el("p", el("bdi", sentence))),
      noteList(plan.notes ?? [], { none: "Nothing is left out." }),
      problem,
      el("div.actions", go, el("span.m-help", "It becomes a draft: workers get no tasks until you open it.")),
    );
    put(this.result, preview);
    heading.focus({ preventScroll: true });
    this.result.scrollIntoView({ block: "nearest" });
    announce(`${count(plan.assignments)} assignments, ${plan.cost}`);
  }

  /** @param {{ name: string }} request @param {HTMLElement} problem */
  async #create(request, problem) {
    put(problem);
    try {
      await post("/api/manage/plan", { ...request, start: true, draft: true });
    } catch (error) {
      return void put(problem, errorBox(error, "The campaign was not created"));
    }
    this.#preview = null;
    this.#named = false;
    const address = path`/manage/campaigns/${request.name}`;
    const failed = el("div");
    const openIt = button(
      `Open ${request.name} to workers`,
      () => busy(openIt, () => this.#open(request.name, failed)),
      "primary",
    );
    const created = el(
      "p",
      { tabindex: "-1" },
      el("strong", name(request.name), " is a draft. "),
      "Workers get no tasks yet.",
    );
    const preview = el("a.button", { href: `${address}/preview` }, "Preview as a worker");
    const edit = el("a.button", { href: `${address}/edit` }, "Edit");
    put(this.result, el("div.notice", created, failed, el("div.actions", openIt, preview, edit)));
    created.focus();
    say(`${request.name} is created as a draft.`);
    this.onStarted();
  }

  /** @param {string} campaign @param {HTMLElement} problem */
  async #open(campaign, problem) {
    try {
      await post(path`/api/manage/campaigns/${campaign}/state`, { state: "running" });
    } catch (error) {
      return void put(problem, errorBox(error, "The campaign was not opened"));
    }
    const watch = el("a", { href: path`/manage/campaigns/${campaign}` }, "Watch it");
    const invite = el("a", { href: "#invitations" }, "invite workers");
    const running = el("strong", name(campaign), " is running. ");
    const started = el("p", { tabindex: "-1" }, running, watch, " or ", invite, ".");
    put(this.result, el("div.notice.good", started));
    started.focus();
    say(`${campaign} has started.`);
    this.onStarted();
  }

  /** @param {HTMLElement | null} problem */
  async #save(problem) {
    if (!this.#check()) return;
    const request = this.#request();
    try {
      await call("PUT", path`/api/manage/campaigns/${request.name}`, request, { timeout: 0 });
    } catch (error) {
      if (problem) return void put(problem, errorBox(error, "Nothing was changed"));
      return this.#refuse(error, "Nothing was changed");
    }
    this.#preview = null;
    const back = el("a", { href: path`/manage/campaigns/${request.name}` }, `Back to ${request.name}`);
    const saved = el("p", { tabindex: "-1" }, el("strong", "Saved. "), back, ".");
    put(this.result, el("div.notice.good", saved));
    saved.focus();
    say(`The changes to the ${kindTitle(request.kind).toLowerCase()} campaign are saved.`);
    this.onStarted();
  }
}

/**
 * @param {string[]} pyramids
 * @param {string} chosen "" where nobody but the manager can tell
 * @param {string[]} simulated pyramids that a rehearsal wrote
 */
function pyramidSelect(pyramids, chosen, simulated) {
  const options = pyramids.map((value) => {
    const text = simulated.includes(value) ? `${value} (simulated)` : value;
    return el("option", { value, selected: value === chosen }, text);
  });
  const none = !chosen && el("option", { value: "" }, "Choose one");
  const input = el("select", { id: "plan-pyramid", "aria-describedby": "plan-pyramid-help" }, none, options);
  const help = el("p.m-help", { id: "plan-pyramid-help" }, "The pyramid whose units are judged.");
  return { input, node: el("div.field.m-field-name", el("label", { for: input.id }, "Pyramid"), input, help) };
}

/** @param {string} field @param {string} title @param {string[][]} options @param {string[]} [held] */
function scopeList(field, title, options, held = []) {
  const boxes = options.map(([value, text]) =>
    el(
      "label.m-check",
      el("input", { type: "checkbox", name: field, value, checked: held.includes(value) }),
      name(text),
    ),
  );
  return el(
    "fieldset.m-scope-list",
    el("legend", title),
    el("p.m-help", "Tick some to ask only about them; none ticked means all."),
    el("div.m-ticks", { tabindex: "0", role: "group", "aria-label": title }, boxes),
  );
}
