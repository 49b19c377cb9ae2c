// /manage: the study, its campaigns, planning, invitations, scores.

import { errorBox, get, path } from "./manager-api.js";
import { byId, count, el, name, plural, put, setText } from "./manager-dom.js";
import { progress } from "./manager-charts.js";
import { Invitations } from "./manager-invite.js";
import { announce, Live } from "./manager-live.js";
import { PlanForm, suggestKind } from "./manager-plan.js";
import { Scores } from "./manager-scores.js";
import { DataTable } from "./manager-table.js";
import { kindPill, kindTitle, statePill } from "./manager-words.js";

const EVERY = 10_000;
const PATIENCE = 60_000;
const COUNTS = ["topics", "references", "systems", "peers", "units", "judgments"];
const ONE = {
  topics: "topic",
  references: "reference",
  systems: "system",
  peers: "summary",
  units: "unit",
  judgments: "judgment",
};
const MANY = { ...Object.fromEntries(COUNTS.map((what) => [what, what])), peers: "system summaries" };

export function startOverview(main) {
  const manager = main.dataset.role === "manager";
  const table = campaignTable(manager);
  put(byId("campaigns"), table.node);
  const scores = new Scores(byId("scores-panel"));
  const parts = [scores];
  let live = null;
  if (manager) {
    parts.push(new Invitations(byId("invitations-panel")));
    parts.push(new PlanForm(byId("plan-panel"), { onStarted: () => live.now() }));
  }
  const trouble = byId("trouble");
  const load = async () => {
    const study = await get("/api/manage", { signal: AbortSignal.timeout(PATIENCE) });
    put(trouble);
    showCounts(study.counts);
    showNext(study, manager);
    table.update(study.campaigns);
    for (const part of parts) part.update(study);
    announceStates(study.campaigns);
  };
  live = new Live(load, {
    every: EVERY,
    line: byId("live"),
    onTrouble: (error) => put(trouble, errorBox(error, "This page is not up to date")),
  });
  live.start();
}

function showCounts(counts) {
  const place = byId("counts");
  if (!place.children.length) {
    put(
      place,
      COUNTS.map((what) => el("div", {}, el("dt"), el("dd", { class: "m-big" }))),
    );
  }
  COUNTS.forEach((what, i) => {
    const [title, value] = place.children[i].children;
    setText(title, counts[what] === 1 ? ONE[what] : MANY[what]);
    setText(value, count(counts[what] ?? 0));
  });
}

// -- what to do next -----------------------------------------------------------------------------------------

function showNext(study, manager) {
  const place = byId("next");
  const step = manager ? nextStep(study) : null;
  place.hidden = !step;
  if (!step || place.dataset.step === step.key) return;
  place.dataset.step = step.key;
  put(place, el("strong", {}, "Next: "), step.text, " ", el("a", { href: step.href }, step.link));
}

function nextStep({ counts, campaigns }) {
  const plan = (key, text) => ({ key, text, href: "#plan", link: "Plan a campaign" });
  const open = (campaign, key, text, link) => ({
    key: `${key} ${campaign.name}`,
    text: [text[0], name(campaign.name), text[1]],
    href: path`/manage/campaigns/${campaign.name}`,
    link,
  });
  if (!counts.references && !counts.peers) return null;
  if (!campaigns.length) {
    const kind = kindTitle(suggestKind({ counts, campaigns })).toLowerCase();
    const why = counts.units
      ? "there are units, so summaries can be judged."
      : "let workers write units from the references.";
    return plan(`first ${kind}`, why);
  }
  const finished = (campaign) =>
    campaign.progress.wanted > 0 && campaign.progress.submitted >= campaign.progress.wanted;
  const written = campaigns.find((campaign) => campaign.kind === "write" && finished(campaign));
  if (written && !counts.units)
    return open(written, "units", ["", " is complete: make units from what was written."], "Make units");
  if (counts.units && !campaigns.some((campaign) => campaign.kind === "judge")) {
    return plan("judge", "the units are there, so summaries can be judged.");
  }
  const full = campaigns.find((campaign) => campaign.state === "running" && finished(campaign));
  if (full) return open(full, "close", ["", " has all its answers: check flagged workers, then close it."], "Open it");
  return null;
}

// -- campaigns -----------------------------------------------------------------------------------------------

function campaignTable(manager) {
  const wait = ({ progress: p }) => [
    p.leased && `${count(p.leased)} in work`,
    p.surplus && `${count(p.surplus)} surplus`,
  ];
  return new DataTable({
    caption: "Campaigns",
    noun: "campaign",
    key: (row) => row.name,
    sort: { by: "state", direction: "ascending" },
    columns: [
      {
        id: "name",
        title: "Campaign",
        header: true,
        value: (row) => row.name,
        cell: (row) => el("a", { href: path`/manage/campaigns/${row.name}`, class: "m-strong" }, name(row.name)),
      },
      { id: "kind", title: "Kind", value: (row) => kindTitle(row.kind), cell: (row) => kindPill(row.kind) },
      {
        id: "state",
        title: "State",
        value: (row) => ["running", "paused", "closed"].indexOf(row.state),
        cell: (row) => statePill(row.state),
      },
      {
        id: "progress",
        title: "Answers",
        kind: "bar",
        first: "descending",
        value: ({ progress: p }) => (p.wanted ? p.submitted / p.wanted : 0),
        watch: ({ progress: p }) => [p.submitted, p.wanted],
        cell: ({ progress: p }) => progress(p.submitted, p.wanted),
      },
      {
        id: "tasks",
        title: "Tasks full",
        kind: "number",
        value: ({ progress: p }) => p.tasks_full,
        watch: ({ progress: p }) => [p.tasks_full, p.tasks],
        cell: ({ progress: p }) => `${count(p.tasks_full)} of ${count(p.tasks)}`,
      },
      {
        id: "work",
        title: "In work",
        kind: "number",
        value: ({ progress: p }) => p.leased,
        watch: wait,
        cell: ({ progress: p }) => count(p.leased),
      },
    ],
    empty: [
      el("p", {}, el("strong", {}, "No campaign yet.")),
      el(
        "p",
        {},
        manager
          ? "Plan the first one below: usually “Write”, so that workers make the units."
          : "A manager has to plan one.",
      ),
    ],
  });
}

const lastStates = new Map();

function announceStates(campaigns) {
  for (const { name: campaign, state, progress: p } of campaigns) {
    const now = state === "running" && p.submitted >= p.wanted ? "complete" : state;
    const before = lastStates.get(campaign);
    if (before && before !== now) announce(`${campaign} is now ${now}, with ${plural(p.submitted, "answer")}`);
    lastStates.set(campaign, now);
  }
}
