// @ts-check
// /manage: the study, its campaigns, planning, invitations, scores.

import { get, path, post } from "../shared/api.js";
import { button, byId, el, name, onSubmit, put, setText, submitButton } from "../shared/dom.js";
import { count, plural } from "../shared/format.js";
import { announce, errorBox, say } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { Accounts } from "./accounts.js";
import { Changes } from "./changes.js";
import { progress } from "./charts.js";
import { Live } from "./live.js";
import { PlanForm } from "./plan.js";
import { Scores } from "./scores.js";
import { isDraft, kindPill, kindTitle, nextStep, simulatedPill, statePill } from "./words.js";

/** @import { Campaign, Counts, Study } from "./words.js" */
/** @import { Child } from "../shared/dom.js" */

const EVERY = 10_000;
const PATIENCE = 60_000;
/** @type {[key: string, one: string, many: string][]} */
const COUNTS = [
  ["topics", "topic", "topics"],
  ["references", "reference", "references"],
  ["systems", "system", "systems"],
  ["peers", "system summary", "system summaries"],
  ["units", "unit", "units"],
  ["answers", "answer", "answers"],
  ["judgments", "imported judgment", "imported judgments"],
];

function start() {
  const manager = byId("main").dataset.role === "manager";
  const table = campaignTable(manager);
  put(byId("campaigns"), table.node);
  const scores = new Scores(byId("scores-panel"));
  const invitations = manager ? new Invitations(byId("invitations-panel")) : null;
  const changes = new Changes(byId("changes-panel"));
  const accounts = manager ? new Accounts(byId("accounts-panel")) : null;
  /** @type {PlanForm | null} */
  let plan = null;
  const load = async () => {
    /** @type {Study} */
    const study = await get("/api/manage", { timeout: PATIENCE });
    showCounts(study.counts);
    showNext(study, manager);
    table.update(study.campaigns);
    scores.update(study);
    invitations?.update(study);
    if (manager && !plan) {
      const offers = await get("/api/manage/form");
      plan = new PlanForm(byId("plan-panel"), study, offers, { onStarted: () => live.now() });
    }
    plan?.update(study);
    await changes.update();
    byId("blind").hidden = !study.blind;
    byId("simulated").hidden = !study.simulated;
    announceStates(study.campaigns);
    await accounts?.update();
  };
  const live = new Live(load, EVERY);
  live.now();
}

/** @param {Counts} counts */
function showCounts(counts) {
  const place = byId("counts");
  const boxes = () => COUNTS.map(() => el("div", el("dt"), el("dd.m-big")));
  if (!place.children.length) put(place, boxes());
  COUNTS.forEach(([key, one, many], i) => {
    const [title, value] = place.children[i].children;
    setText(title, counts[key] === 1 ? one : many);
    setText(value, count(counts[key] ?? 0));
  });
}

/** @param {Study} study @param {boolean} manager */
function showNext(study, manager) {
  const place = byId("next");
  const step = manager ? nextStep(study) : null;
  place.hidden = !step;
  if (!step || place.dataset.step === step.key) return;
  place.dataset.step = step.key;
  const href = step.href ?? (step.about ? path`/manage/campaigns/${step.about}` : "#plan");
  put(place, el("strong", "Next: "), step.about && name(step.about), step.text, " ", el("a", { href }, step.link));
}

// -- campaigns -----------------------------------------------------------------------------------------------

/** @param {boolean} manager */
function campaignTable(manager) {
  const first = "Plan the first one below: usually “Write”, so that workers make the units.";
  return new DataTable({
    caption: "Campaigns",
    noun: "campaign",
    key: (row) => row.name,
    sort: { by: "State", direction: "ascending" },
    columns: [
      column("Campaign", (row) => row.name, {
        header: true,
        watch: (row) => [row.name, row.simulated],
        cell: (row) => [
          el("a", { href: path`/manage/campaigns/${row.name}`, class: "m-strong" }, name(row.name)),
          row.simulated && [" ", simulatedPill()],
        ],
      }),
      column("Kind", (row) => kindTitle(row.kind), { cell: (row) => kindPill(row.kind) }),
      column("State", (row) => ["running", "draft", "paused", "closed"].indexOf(isDraft(row) ? "draft" : row.state), {
        cell: (row) => statePill(isDraft(row) ? "draft" : row.state),
      }),
      column("Answers", ({ progress: p }) => (p.wanted ? p.submitted / p.wanted : 0), {
        kind: "bar",
        first: "descending",
        watch: ({ progress: p }) => [p.submitted, p.wanted],
        cell: ({ progress: p }) => progress(p.submitted, p.wanted),
      }),
      column("Tasks full", ({ progress: p }) => p.tasks_full, {
        kind: "number",
        watch: ({ progress: p }) => [p.tasks_full, p.tasks],
        cell: ({ progress: p }) => `${count(p.tasks_full)} of ${count(p.tasks)}`,
      }),
      column("In work", ({ progress: p }) => p.leased, { kind: "number", cell: ({ progress: p }) => count(p.leased) }),
    ],
    empty: [el("p", el("strong", "No campaign yet.")), el("p", manager ? first : "A manager has to plan one.")],
  });
}

/** @type {Map<string, string>} */
const lastStates = new Map();

/** @param {Campaign[]} campaigns */
function announceStates(campaigns) {
  for (const { name: campaign, state, progress: p } of campaigns) {
    const now = state === "running" && p.submitted >= p.wanted ? "complete" : state;
    const before = lastStates.get(campaign);
    if (before && before !== now) announce(`${campaign} is now ${now}, with ${plural(p.submitted, "answer")}`);
    lastStates.set(campaign, now);
  }
}

// -- links that let people join a campaign: made once, then copied or downloaded -----------------------------

const UNNAMED = "Each link is for one person. Save them now: they are not shown again.";
const NAMED = "Each line is for one person: the name, the worker’s id, the link.";

class Invitations {
  #shown = "";

  /** @param {HTMLElement} place */
  constructor(place) {
    this.select = el("select", { id: "invite-campaign", required: true });
    const limits = { type: "number", min: "1", max: "1000", step: "1", value: "5", required: true };
    this.number = el("input", { id: "invite-count", ...limits });
    this.who = el(
      "select",
      { id: "invite-who" },
      el("option", { value: "anybody" }, "Anybody"),
      el("option", { value: "names" }, "People by name"),
    );
    const plain = { rows: "4", spellcheck: "false", autocomplete: "off", required: true };
    this.names = el("textarea", { id: "invite-names", ...plain, "aria-describedby": "invite-names-help" });
    const make = submitButton("Make links");
    this.result = el("div.m-links");
    this.none = el("div.m-empty", el("p", "No campaign is running. Plan one above, then invite workers to it."));
    /** @param {HTMLElement} input @param {string} label @param {string} [kind] @param {Child} [help] */
    const field = (input, label, kind = "", help = null) =>
      el("div", { class: `field ${kind}` }, el("label", { for: input.id }, label), help, input);
    const help = el(
      "p.m-help",
      { id: "invite-names-help" },
      "Names or addresses, one per line. Whoever is invited again gets the same link, and is one worker in all campaigns.",
    );
    const many = field(this.number, "How many", "m-field-short");
    const names = field(this.names, "Names", "m-field-wide", help);
    const adapt = () => {
      many.hidden = this.number.disabled = this.#byName;
      names.hidden = this.names.disabled = !this.#byName;
    };
    this.form = el(
      "form.m-row",
      { hidden: true },
      field(this.select, "Campaign"),
      field(this.who, "For"),
      many,
      names,
      make,
    );
    this.who.addEventListener("change", adapt);
    adapt();
    onSubmit(this.form, make, () => this.#make());
    put(place, this.none, this.form, this.result);
  }

  get #byName() {
    return this.who.value === "names";
  }

  /** @param {Study} study */
  update(study) {
    const open = study.campaigns.filter((campaign) => campaign.state !== "closed");
    const shown = JSON.stringify(open.map((campaign) => [campaign.name, campaign.state]));
    this.none.hidden = open.length > 0;
    this.form.hidden = !open.length;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const chosen = this.select.value;
    const options = open.map(({ name: value, state }) =>
      el("option", { value, selected: value === chosen }, state === "running" ? value : `${value} (${state})`),
    );
    put(this.select, options);
  }

  async #make() {
    const campaign = this.select.value;
    try {
      const whom = this.#byName ? { people: this.names.value.split("\n") } : { count: this.number.valueAsNumber };
      /** @type {{ links: string[], people: { name: string, worker: string, link: string }[] }} */
      const { links, people } = await post("/api/manage/invitations", { campaign, ...whom });
      const named = people.map(({ name: person, worker, link }) => [person, worker, link].join("\t"));
      this.#show(campaign, named.length ? named : links);
    } catch (error) {
      put(this.result, errorBox(error, "No links were made"));
    }
  }

  /** @param {string} campaign @param {string[]} links */
  #show(campaign, links) {
    const text = links.join("\n");
    const rows = Math.min(Math.max(links.length, 2), 8);
    const plain = { readonly: true, spellcheck: "false", wrap: "off" };
    const box = el("textarea.m-code", { id: "invite-links", rows, ...plain });
    box.value = text;
    box.addEventListener("focus", () => {
      box.select();
      box.scrollLeft = 0;
    });
    const copy = button("Copy all", async () => {
      box.select();
      const copied = await navigator.clipboard?.writeText(text).then(
        () => true,
        () => false,
      );
      say(copied || document.execCommand("copy") ? "Links copied." : "Select the links and copy them by hand.");
    });
    const save = button("Download as text", () => download(`invitations-${campaign}.txt`, `${text}\n`));
    put(
      this.result,
      el("label", { for: "invite-links" }, `${plural(links.length, "link")} for ${campaign}`),
      el("p.m-help", this.#byName ? NAMED : UNNAMED),
      box,
      el("div.actions", copy, save),
    );
    box.focus();
    say(`${plural(links.length, "link")} made.`);
  }
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

start();
