// /manage/campaigns/NAME: one campaign, live.

import { errorBox, get, path, post } from "./manager-api.js";
import {
  byId,
  count,
  el,
  fixed,
  isNumber,
  name,
  NONE,
  percent,
  plural,
  put,
  setText,
  share,
  splitCost,
  when,
} from "./manager-dom.js";
import { progress, stackedBar } from "./manager-charts.js";
import { ask } from "./manager-dialog.js";
import { announce, Live, say } from "./manager-live.js";
import { DataTable } from "./manager-table.js";
import { Times } from "./manager-times.js";
import { Units } from "./manager-units.js";
import { Workers } from "./manager-workers.js";
import { actionPill, done, KINDS, kindPill, statePill } from "./manager-words.js";

const EVERY = 3000;
const PATIENCE = 60_000;

export function startCampaign(main) {
  const { campaign, role } = main.dataset;
  const manager = role === "manager";
  const address = path`/api/manage/campaigns/${campaign}`;
  let live = null;
  const refresh = () => live.now();
  const workers = new Workers(byId("workers-panel"), { campaign, manager, refresh });
  const units = manager ? new Units(byId("units-panel"), { campaign }) : null;
  const topics = shareTable("Progress by topic", "Topic");
  const systems = shareTable("Progress by system", "System");
  const times = new Times(byId("times-panel"));
  const log = logTable();
  put(byId("topics-panel"), topics.node);
  put(byId("systems-panel"), systems.node);
  put(byId("log-panel"), log.node);
  const heard = new Heard();

  const load = async () => {
    const data = await get(address, { signal: AbortSignal.timeout(PATIENCE) });
    put(byId("trouble"));
    showHead(data, { manager, address, refresh });
    showProgress(data);
    showPending(data);
    showFigures(data);
    showNext(data, manager);
    workers.update(data.workers);
    units?.update(data);
    topics.update(rows(data.by_topic));
    const bySystem = rows(data.by_system).filter((row) => row.name !== "-");
    byId("systems").hidden = bySystem.length === 0;
    systems.update(bySystem);
    times.update(data);
    log.update(data.reviews.map((review, i) => ({ ...review, key: `${i} ${review.at} ${review.action}` })));
    heard.update(data);
  };
  live = new Live(load, {
    every: EVERY,
    line: byId("live"),
    onTrouble: (error) => put(byId("trouble"), errorBox(error, "This page is not up to date")),
  });
  live.start();
}

// -- head ----------------------------------------------------------------------------------------------------

function showHead(data, { manager, address, refresh }) {
  const place = byId("badges");
  if (place.dataset.shown !== `${data.kind} ${data.state}`) {
    place.dataset.shown = `${data.kind} ${data.state}`;
    put(place, kindPill(data.kind), statePill(data.state));
    setText(byId("kind-line"), Object.hasOwn(KINDS, data.kind) ? KINDS[data.kind].line : "");
    if (manager) put(byId("state-actions"), stateButtons(data, address, refresh));
  }
  const { submitted, wanted } = data.progress;
  document.title = `${percent(submitted, wanted)} · ${data.campaign} – pyramidion`;
  byId("state-actions").dataset.open = String(Math.max(wanted - submitted, 0));
  byId("state-actions").dataset.leased = String(data.progress.leased);
}

function stateButtons({ state, campaign }, address, refresh) {
  const button = (label, kind, question) =>
    el("button", { type: "button", class: `button ${kind}`, onclick: () => ask(question()) }, label);
  const change = (next, word) => async () => {
    await post(`${address}/state`, { state: next });
    say(`${campaign} is ${word}.`);
    await refresh();
  };
  const pause = () => ({
    title: `Pause ${campaign}?`,
    intro: el("p", {}, "Nobody gets a new task. Who has one can finish it. You can resume at any time."),
    confirm: "Pause",
    reason: false,
    run: change("paused", "paused"),
  });
  const resume = () => ({
    title: `Resume ${campaign}?`,
    intro: el("p", {}, "Workers get tasks again at once."),
    confirm: "Resume",
    reason: false,
    run: change("running", "running again"),
  });
  const close = () => {
    const { open, leased } = byId("state-actions").dataset;
    return {
      title: `Close ${campaign} for good?`,
      intro: [
        el("p", {}, "Nobody gets tasks any more, and it cannot be opened again. Everything collected stays."),
        Number(open) > 0 &&
          el("p", { class: "notice warn" }, `${plural(Number(open), "answer")} still missing, ${leased} in work now.`),
      ],
      confirm: "Close for good",
      danger: true,
      reason: false,
      run: change("closed", "closed"),
    };
  };
  if (state === "closed") return [];
  const first = state === "running" ? button("Pause", "", pause) : button("Resume", "primary", resume);
  return [first, button("Close …", "danger", close)];
}

// -- figures -------------------------------------------------------------------------------------------------

function showProgress({ progress: p }) {
  setText(byId("done"), count(p.submitted));
  setText(byId("wanted"), `of ${count(p.wanted)} answers`);
  setText(byId("percent"), percent(p.submitted, p.wanted));
  const place = byId("overall-bar");
  const shown = JSON.stringify([p.submitted, p.leased, p.wanted]);
  if (place.dataset.shown !== shown) {
    place.dataset.shown = shown;
    const kind = p.submitted >= p.wanted && p.wanted ? "full" : "done";
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

/** Decisions that hold here and of which the platform does not know. */
function showPending({ pending }) {
  const place = byId("pending");
  place.hidden = pending.length === 0;
  const refused = pending.filter((one) => one.problem).map((one) => `${one.worker}: ${one.problem}`);
  const told = "not yet known to the platform. “campaign pay” carries them over.";
  setText(place, [`Decisions about ${plural(pending.length, "worker")} are ${told}`, ...refused].join(" "));
}

function showFigures(data) {
  setText(byId("alpha"), data.alpha_shown ?? NONE);
  setText(byId("alpha-help"), alphaHelp(data));
  const [total, rest] = splitCost(data.cost);
  setText(byId("cost"), total);
  setText(byId("cost-help"), rest);
  const flagged = data.workers.filter((worker) => worker.flags.length).length;
  const out = data.workers.filter((worker) => worker.excluded).length;
  const blocked = data.workers.filter((worker) => worker.blocked).length;
  setText(byId("worker-count"), count(data.workers.length));
  setText(byId("worker-help"), `${flagged} flagged, ${out} excluded, ${blocked} blocked`);
}

function alphaHelp({ alpha, kind }) {
  if (!["judge", "rate"].includes(kind)) return "Not measured for this kind of campaign.";
  if (!isNumber(alpha)) return "Needs tasks that several workers have answered.";
  return "Krippendorff’s α: 1 is full agreement, 0 is chance. From 0.8 on reliable, from 0.67 tentative.";
}

function showNext({ chain, progress: p, state }, manager) {
  const place = byId("next");
  const complete = p.wanted > 0 && p.submitted >= p.wanted;
  const key = p.submitted === 0 && state === "running" ? "invite" : chain?.can_score && complete ? "score" : "";
  place.hidden = !key || !manager;
  if (place.hidden || place.dataset.step === key) return;
  place.dataset.step = key;
  const steps = {
    invite: [
      "no answer yet. Invite workers, and they will show up here.",
      "/manage#invitations",
      "Make invitation links",
    ],
    score: ["all answers are in. Look at flagged workers, then at the scores.", "/manage#scores", "Scores"],
  };
  const [text, href, link] = steps[key];
  put(place, el("strong", {}, "Next: "), text, " ", el("a", { href }, link));
}

// -- tables --------------------------------------------------------------------------------------------------

const rows = (shares) => Object.entries(shares ?? {}).map(([key, value]) => ({ name: key, ...value }));

function shareTable(caption, title) {
  return new DataTable({
    caption,
    noun: title.toLowerCase(),
    key: (row) => row.name,
    sort: { by: "name", direction: "ascending" },
    page: 12,
    plain: true,
    columns: [
      { id: "name", title, header: true, value: (row) => row.name },
      {
        id: "progress",
        title: "Answers",
        kind: "bar",
        first: "ascending",
        value: (row) => share(row.submitted, row.wanted),
        watch: (row) => [row.submitted, row.wanted],
        cell: (row) => progress(row.submitted, row.wanted),
      },
    ],
    empty: el("p", {}, "Nothing is asked here."),
  });
}

function logTable() {
  return new DataTable({
    caption: "Decisions",
    noun: "decision",
    key: (row) => row.key,
    sort: { by: "at", direction: "descending" },
    page: 15,
    filter: (row) => [row.actor, row.action, done(row.action), row.worker, row.assignment, row.reason].join(" "),
    columns: [
      {
        id: "at",
        title: "When",
        kind: "when",
        first: "descending",
        value: (row) => row.at,
        cell: (row) => when(row.at),
      },
      { id: "actor", title: "Who", value: (row) => row.actor },
      {
        id: "action",
        title: "Decision",
        value: (row) => done(row.action),
        cell: (row) => [actionPill(row.action), isNumber(row.amount) ? ` ${fixed(row.amount)}` : null],
      },
      {
        id: "about",
        title: "About",
        value: (row) => row.worker ?? "",
        watch: (row) => [row.worker, row.assignment],
        cell: (row) => [
          row.worker ? name(row.worker) : null,
          row.assignment ? el("span", { class: "m-help" }, ` answer ${row.assignment}`) : null,
        ],
      },
      { id: "reason", title: "Reason", kind: "wide", value: (row) => row.reason, cell: (row) => name(row.reason) },
    ],
    empty: el(
      "p",
      {},
      "No decision yet. Whatever is decided about workers and answers is listed here, with its reason.",
    ),
  });
}

// -- what is read out ----------------------------------------------------------------------------------------

/** Changes that matter, not every poll: new answers at most twice a minute, new flags and states at once. */
class Heard {
  #answers = null;
  #flagged = null;
  #state = null;
  #time = 0;

  update(data) {
    const flagged = new Set(data.workers.filter((w) => w.flags.length).map((w) => w.worker));
    const news = [];
    if (this.#flagged) {
      const more = [...flagged].filter((worker) => !this.#flagged.has(worker)).length;
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
