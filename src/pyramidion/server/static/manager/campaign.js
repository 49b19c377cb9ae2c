// @ts-check
// /manage/campaigns/NAME: one campaign, live.

import { get, path, post } from "../shared/api.js";
import { ask } from "../shared/dialog.js";
import { button, byId, el, name, put, setText } from "../shared/dom.js";
import { count, duration, isNumber, NONE, percent, plural, share, splitCost } from "../shared/format.js";
import { announce, say } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { binName, bins, histogram, progress, stackedBar } from "./charts.js";
import { Live } from "./live.js";
import { DecisionLog } from "./log.js";
import { Rounds } from "./rounds.js";
import { Units } from "./units.js";
import { isDraft, kindPill, KINDS, simulatedPill, statePill } from "./words.js";
import { Workers } from "./workers.js";

/** @import { Bin } from "./charts.js" */
/** @import { Logged } from "./log.js" */
/** @import { RoundsData } from "./rounds.js" */
/** @import { Progress } from "./words.js" */
/** @import { Worker } from "./people.js" */
/**
 * @typedef {{ campaign: string, kind: string, state: string, simulated: number, progress: Progress & { rejected: number,
 *   withdrawn: number, reopened: number, returned: number }, workers: Worker[], chain?: { can_make_units?: boolean,
 *   can_score?: boolean }, pending: { worker: string, problem?: string }[], alpha: number | null,
 *   alpha_shown: string | null, cost: string | null, seconds?: number[], median_seconds: number | null,
 *   by_topic: Record<string, Share>, by_system: Record<string, Share>, reviews: Logged[],
 *   preferences?: Preferences[], rounds?: RoundsData | null }} CampaignData what /api/manage/campaigns/NAME says
 */
/** @typedef {{ submitted: number, wanted: number }} Share */
/** @typedef {{ system: string, won: number, tied: number, lost: number, share: number }} Preferences */

const EVERY = 3000;
const PATIENCE = 60_000;

function start() {
  const { campaign = "", role } = byId("main").dataset;
  const manager = role === "manager";
  const address = path`/api/manage/campaigns/${campaign}`;
  const refresh = () => live.now();
  const workers = new Workers(byId("workers-panel"), { campaign, manager, refresh });
  const units = manager ? new Units(byId("units-panel"), { campaign }) : null;
  const rounds = new Rounds({ campaign, manager, address, refresh });
  const topics = shareTable("Progress by topic", "Topic");
  const systems = shareTable("Progress by system", "System");
  const times = new Times(byId("times-panel"));
  const log = new DecisionLog({ campaign, manager, refresh });
  put(byId("topics-panel"), topics.node);
  put(byId("systems-panel"), systems.node);
  const preferences = preferenceTable();
  put(byId("preferences-panel"), preferences.node);
  put(byId("log-panel"), log.node);
  const heard = new Heard();

  const kept = { tag: "", data: null };
  const load = async () => {
    /** @type {CampaignData} */
    const data = await get(address, { timeout: PATIENCE, kept });
    showHead(data, { manager, address, refresh });
    showSimulated(data);
    showProgress(data);
    showPending(data);
    showFigures(data);
    showNext(data, manager);
    workers.update(data.workers);
    units?.update(data);
    rounds.update(data.rounds);
    topics.update(rows(data.by_topic));
    const bySystem = rows(data.by_system).filter((row) => row.name !== "-");
    byId("systems").hidden = bySystem.length === 0;
    systems.update(bySystem);
    times.update(data);
    byId("both-systems").hidden = data.kind !== "compare";
    byId("preferences").hidden = !data.preferences?.length;
    preferences.update(data.preferences ?? []);
    log.update(data.reviews);
    heard.update(data);
  };
  const live = new Live(load, EVERY);
  live.now();
}

// -- head ----------------------------------------------------------------------------------------------------

/** @param {CampaignData} data @param {{ manager: boolean, address: string, refresh: () => Promise<void> }} page */
function showHead(data, { manager, address, refresh }) {
  const place = byId("badges");
  const state = isDraft(data) ? "draft" : data.state;
  const shown = `${data.kind} ${state} ${data.simulated > 0}`;
  if (place.dataset.shown !== shown) {
    place.dataset.shown = shown;
    put(place, kindPill(data.kind), statePill(state), data.simulated > 0 && simulatedPill());
    setText(byId("kind-line"), Object.hasOwn(KINDS, data.kind) ? KINDS[data.kind].line : "");
    if (manager) put(byId("state-actions"), stateButtons({ ...data, state }, address, refresh));
  }
  const { submitted, wanted } = data.progress;
  document.title = `${percent(submitted, wanted)} · ${data.campaign} – pyramidion`;
  byId("state-actions").dataset.open = String(Math.max(wanted - submitted, 0));
  byId("state-actions").dataset.leased = String(data.progress.leased);
}

/** What a rehearsal made up is never taken for people's answers. @param {CampaignData} data */
function showSimulated({ simulated, workers }) {
  if (!simulated) return;
  const place = byId("simulated");
  place.hidden = false;
  const who = `${count(simulated)} of ${plural(workers.length, "worker")}`;
  setText(place, `Simulated: ${who} are not people. A rehearsal made up their answers, so no result is real.`);
}

/** @param {CampaignData} data @param {string} address @param {() => Promise<void>} refresh */
function stateButtons({ state, campaign }, address, refresh) {
  /** @param {string} next @param {string} word */
  const change = (next, word) => async () => {
    await post(`${address}/state`, { state: next });
    say(`${campaign} is ${word}.`);
    await refresh();
  };
  const pause = () => ({
    title: `Pause ${campaign}?`,
    intro: el("p", "Nobody gets a new task. Whoever has one can finish it. You can resume at any time."),
    confirm: "Pause",
    reason: false,
    run: change("paused", "paused"),
  });
  const draft = state === "draft";
  const resume = () => ({
    title: draft ? `Open ${campaign} to workers?` : `Resume ${campaign}?`,
    intro: el(
      "p",
      draft
        ? "Workers get tasks at once. Its texts, units and instructions then stay as they are."
        : "Workers get tasks again at once.",
    ),
    confirm: draft ? "Open to workers" : "Resume",
    reason: false,
    run: change("running", draft ? "open" : "running again"),
  });
  const close = () => {
    const { open, leased } = byId("state-actions").dataset;
    return {
      title: `Close ${campaign} for good?`,
      intro: [
        el("p", "Nobody gets tasks any more, and the campaign cannot be opened again. Everything collected is kept."),
        Number(open) > 0 &&
          el("p.notice.warn", `${plural(Number(open), "answer")} still missing, ${leased} in work now.`),
      ],
      confirm: "Close for good",
      danger: true,
      reason: false,
      run: change("closed", "closed"),
    };
  };
  const here = path`/manage/campaigns/${campaign}`;
  const links = [
    el("a.button", { href: `${here}/preview` }, "Preview as a worker"),
    state !== "closed" && el("a.button", { href: `${here}/edit` }, "Edit"),
  ];
  if (state === "closed") return links;
  const word = draft ? "Open to workers" : "Resume";
  const first =
    state === "running" ? button("Pause", () => ask(pause())) : button(word, () => ask(resume()), "primary");
  return [...links, first, button("Close …", () => ask(close()), "danger")];
}

// -- figures -------------------------------------------------------------------------------------------------

/** @param {CampaignData} data */
function showProgress({ progress: p }) {
  setText(byId("done"), count(p.submitted));
  setText(byId("wanted"), `of ${count(p.wanted)} answers`);
  setText(byId("percent"), percent(p.submitted, p.wanted));
  const place = byId("overall-bar");
  const shown = JSON.stringify([p.submitted, p.leased, p.wanted]);
  if (place.dataset.shown !== shown) {
    place.dataset.shown = shown;
    const kind = p.submitted >= p.wanted && p.wanted ? "full" : "done";
    /** @type {[string, number][]} */
    const parts = [
      [kind, share(p.submitted, p.wanted)],
      ["busy", share(p.leased, p.wanted)],
    ];
    put(place, stackedBar(parts, "m-bar m-bar-big"));
  }
  setText(byId("in-work"), count(p.leased));
  setText(byId("tasks-full"), `${count(p.tasks_full)} of ${count(p.tasks)}`);
  setText(byId("surplus"), count(p.surplus));
  setText(byId("removed"), count(p.rejected + p.withdrawn + p.reopened));
  setText(byId("returned"), count(p.returned));
}

/** Decisions that hold here and that the platform does not know of. @param {CampaignData} data */
function showPending({ pending }) {
  const place = byId("pending");
  place.hidden = pending.length === 0;
  const refused = pending.filter((one) => one.problem).map((one) => `${one.worker}: ${one.problem}`);
  const told = "not yet known to the platform. Whoever runs the server sends them with “campaign pay”.";
  setText(place, [`Decisions about ${plural(pending.length, "worker")} are ${told}`, ...refused].join(" "));
}

/** @param {CampaignData} data */
function showFigures(data) {
  setText(byId("alpha"), data.alpha_shown ?? NONE);
  setText(byId("alpha-help"), alphaHelp(data));
  const [total, rest] = splitCost(data.cost);
  setText(byId("cost"), total);
  setText(byId("cost-help"), [rest, notPaid(data)].filter(Boolean).join(". "));
  const flagged = data.workers.filter((worker) => worker.flags.length).length;
  const out = data.workers.filter((worker) => worker.excluded).length;
  const blocked = data.workers.filter((worker) => worker.blocked).length;
  setText(byId("worker-count"), count(data.workers.length));
  setText(byId("worker-help"), `${flagged} flagged, ${out} excluded, ${blocked} blocked`);
}

/** @param {CampaignData} data */
function notPaid({ simulated, workers }) {
  if (!simulated) return "";
  return simulated === workers.length
    ? "Simulated: nobody was paid."
    : "Partly simulated: nobody was paid for what a rehearsal made up.";
}

/** @param {CampaignData} data */
function alphaHelp({ alpha, kind }) {
  if (!["judge", "rate"].includes(kind)) return "Not measured for this kind of campaign.";
  if (!isNumber(alpha)) return "Needs tasks that several workers have answered.";
  const about = kind === "judge" ? "units (nominal)" : "ratings (interval)";
  return `Of ${about}, without excluded workers. 1 is full agreement, 0 chance; from 0.8 reliable, from 0.67 tentative.`;
}

/** @param {CampaignData} data @param {boolean} manager */
function showNext({ chain, progress: p, state, rounds }, manager) {
  const place = byId("next");
  const complete = p.wanted > 0 && p.submitted >= p.wanted && (!rounds || rounds.status === "stopped");
  const invite = [
    "no answer yet. Invite workers, and they will show up here.",
    "/manage#invitations",
    "Make invitation links",
  ];
  const score = ["all answers are in. Look at flagged workers, then at the scores.", "/manage#scores", "Scores"];
  const step = p.submitted === 0 && state === "running" ? invite : chain?.can_score && complete ? score : null;
  place.hidden = !step || !manager;
  if (place.hidden || !step || place.dataset.step === step[2]) return;
  const [text, href, link] = step;
  place.dataset.step = link;
  put(place, el("strong", "Next: "), text, " ", el("a", { href }, link));
}

// -- tables --------------------------------------------------------------------------------------------------

/** @param {Record<string, Share> | undefined} shares */
const rows = (shares) => Object.entries(shares ?? {}).map(([key, value]) => ({ name: key, ...value }));

/** @param {string} caption @param {string} title */
function shareTable(caption, title) {
  return new DataTable({
    caption,
    noun: title.toLowerCase(),
    key: (row) => row.name,
    sort: { by: title, direction: "ascending" },
    page: 12,
    plain: true,
    columns: [
      column(title, (row) => row.name, { header: true }),
      column("Answers", (row) => share(row.submitted, row.wanted), {
        kind: "bar",
        first: "ascending",
        watch: (row) => [row.submitted, row.wanted],
        cell: (row) => progress(row.submitted, row.wanted),
      }),
    ],
    empty: el("p", "There are no tasks here."),
  });
}

/** What comparisons say so far. */
function preferenceTable() {
  /** @param {"won" | "tied" | "lost"} key @param {string} title */
  const number = (key, title) => column(title, (row) => row[key], { kind: "number", cell: (row) => count(row[key]) });
  return new DataTable({
    caption: "How often each system is preferred",
    noun: "system",
    key: (row) => row.system,
    sort: { by: "Preferred", direction: "descending" },
    page: 25,
    plain: true,
    columns: [
      column("System", (row) => row.system, { header: true, cell: (row) => name(row.system) }),
      column("Preferred", (row) => row.share, {
        kind: "bar",
        first: "descending",
        cell: (row) =>
          el("div.m-score", el("span", `${(100 * row.share).toFixed(0)}%`), stackedBar([["done", row.share]])),
      }),
      number("won", "Won"),
      number("tied", "Tied"),
      number("lost", "Lost"),
    ],
    empty: el("p", "No comparison counts yet."),
  });
}

// -- what is read out ----------------------------------------------------------------------------------------

/** Changes that matter, not every poll: new answers at most twice a minute, new flags and states at once. */
class Heard {
  /** @type {number | null} */
  #answers = null;
  /** @type {Set<string> | null} */
  #flagged = null;
  /** @type {string | null} */
  #state = null;
  #time = 0;

  /** @param {CampaignData} data */
  update(data) {
    const flagged = new Set(data.workers.filter((w) => w.flags.length).map((w) => w.worker));
    const news = [];
    const before = this.#flagged;
    if (before) {
      const more = [...flagged].filter((worker) => !before.has(worker)).length;
      if (more) news.push(`${plural(more, "worker")} newly flagged`);
    }
    if (this.#state && this.#state !== data.state) news.push(`The campaign is now ${data.state}`);
    const { submitted, wanted } = data.progress;
    const due = performance.now() - this.#time > 30_000;
    if (this.#answers === null) [this.#answers, this.#time] = [submitted, performance.now()];
    else if (submitted !== this.#answers && (due || submitted === wanted)) {
      news.push(`${count(submitted)} of ${count(wanted)} answers`);
      [this.#answers, this.#time] = [submitted, performance.now()];
    }
    [this.#flagged, this.#state] = [flagged, data.state];
    if (news.length) announce(`${news.join(". ")}.`);
  }
}

// -- how long answers take: a histogram, its table, the median -----------------------------------------------

class Times {
  /** @type {{ seconds: number[], median: number | null } | null} */
  #data = null;
  #shown = "";

  /** @param {HTMLElement} place */
  constructor(place) {
    this.chart = el("div.m-chart-place");
    this.body = el("tbody");
    this.fold = el(
      "details.m-fold",
      el("summary", "Show as a table"),
      el(
        "table.m-small-table",
        el("caption.visually-hidden", "How many answers took how long"),
        el("thead", el("tr", el("th", { scope: "col" }, "Time"), el("th.number", { scope: "col" }, "Answers"))),
        this.body,
      ),
    );
    this.empty = el("div.m-empty", el("p", "No times yet: they come with the first answers."));
    put(place, this.empty, this.chart, this.fold);
    new ResizeObserver(() => this.#draw()).observe(this.chart);
  }

  /** @param {CampaignData} data */
  update(data) {
    const seconds = (data.seconds ?? []).filter(isNumber);
    this.#data = { seconds, median: data.median_seconds };
    setText(byId("median"), duration(data.median_seconds));
    setText(byId("median-help"), seconds.length ? range(seconds) : "From taking a task to submitting it.");
    this.empty.hidden = seconds.length > 0;
    this.chart.hidden = this.fold.hidden = seconds.length === 0;
    this.#draw();
  }

  #draw() {
    const width = Math.floor(this.chart.clientWidth);
    if (!this.#data?.seconds.length || !width) return;
    const { seconds, median } = this.#data;
    const shown = `${width} ${median} ${seconds.length} ${seconds.reduce((sum, value) => sum + value, 0)}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const parts = bins(seconds, width < 500 ? 12 : 24);
    const label = `Histogram of ${count(seconds.length)} answers by time taken; the median is ${duration(median)}.`;
    put(this.chart, histogram(parts, { width, median, label }));
    /** @param {Bin} bin */
    const row = (bin) => el("tr", el("th", { scope: "row" }, binName(bin)), el("td.number", count(bin.count)));
    put(this.body, parts.map(row));
  }
}

/** @param {number[]} seconds */
function range(seconds) {
  const sorted = [...seconds].sort((a, b) => a - b);
  /** @param {number} part */
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  return `Four in five answers took between ${duration(at(0.1))} and ${duration(at(0.9))}.`;
}

start();
