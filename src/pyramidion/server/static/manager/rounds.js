// @ts-check
// A campaign with a goal: its rounds, what is decided, how intervals shrink, money; and going on or stopping.

import { post } from "../shared/api.js";
import { ask } from "../shared/dialog.js";
import { button, byId, el, name, put, setText } from "../shared/dom.js";
import { count, fixed, percent, plural, splitCost, when } from "../shared/format.js";
import { say } from "../shared/messages.js";
import { column, DataTable } from "../shared/table.js";
import { intervals } from "./charts.js";

/** @import { Child } from "../shared/dom.js" */
/**
 * @typedef {{ system: string, score: number, low: number, high: number, active: boolean }} Standing
 * @typedef {{ better: string, worse: string, difference: number, look: number }} Decided
 * @typedef {{ number: number, looks: number, at: number, actor: string, standings: Standing[], decided: Decided[],
 *   notes: string[] }} Look
 * @typedef {{ number: number, at: number, actor: string, systems: string[], tasks: number, reason: string }} Round
 * @typedef {{ goal: string, question: string, model: string, budget: string, round: number, rounds: number,
 *   status: "asking" | "looking" | "stopped" | "paused" | "closed", stop: { reason: string, text: string } | null,
 *   open_tasks: number, decided: Decided[], pairs: number, staying: string[], left: Record<string, number>,
 *   looks: Look[], released: Round[], judgments: { asked: number, planned: number, whole: number },
 *   money: { spent: string, this_round: string, next_round: string | null, most: string, further: string | null },
 *   simulated: boolean, people: number | null, lacks_places: boolean }} RoundsData
 */

export class Rounds {
  #shown = "";

  /** @param {{ campaign: string, manager: boolean, address: string, refresh: () => Promise<void> }} page */
  constructor(page) {
    this.page = page;
    this.pairs = pairTable();
    this.history = historyTable();
    put(byId("pairs-panel"), this.pairs.node);
    put(byId("history-panel"), this.history.node);
  }

  /** @param {RoundsData | null | undefined} data */
  update(data) {
    byId("rounds").hidden = !data;
    byId("rounds-link").hidden = !data;
    if (!data) return;
    this.pairs.update(data.decided);
    this.history.update(data.released);
    const shown = JSON.stringify({ ...data, decided: 0, released: 0 });
    if (shown === this.#shown) return;
    this.#shown = shown;
    setText(byId("goal-line"), goalLine(data));
    const [tone, text] = statusLine(data);
    const status = byId("rounds-status");
    status.className = `notice ${tone}`;
    setText(status, text);
    put(byId("rounds-notes"), notes(data));
    figures(data);
    if (this.page.manager) put(byId("rounds-actions"), this.#buttons(data));
    byId("intervals-place").hidden = data.looks.length === 0;
    put(byId("intervals-panel"), systemCharts(data));
    put(byId("intervals-table"), standingTable(data));
  }

  /** @param {RoundsData} data */
  #buttons(data) {
    const { campaign, address, refresh } = this.page;
    const goOn = () => ({
      title: `Ask one more round of ${campaign}?`,
      intro: [
        el(
          "p",
          `Round ${data.round + 1} is released for the ${plural(lastSystems(data), "system")} asked about last. After ` +
            `it there is one more look, and the campaign stops again. It costs ${splitCost(data.money.further)[0]}.`,
        ),
        el("p", "What is decided stays decided."),
      ],
      confirm: "Go on",
      run: async (/** @type {any} */ { reason }) => {
        await post(`${address}/go-on`, { reason });
        say(`${campaign} goes on.`);
        await refresh();
      },
    });
    const stop = () => ({
      title: `Stop ${campaign} for good?`,
      intro: [
        el("p", "No task is given out any more and no round is released. Everything collected is kept."),
        data.status !== "stopped" &&
          el("p.notice.warn", `${data.decided.length} of ${plural(data.pairs, "pair")} decided so far.`),
      ],
      confirm: "Stop for good",
      danger: true,
      reason: false,
      run: async () => {
        await post(`${address}/state`, { state: "closed" });
        say(`${campaign} has stopped for good.`);
        await refresh();
      },
    });
    if (data.status === "closed") return [];
    return [
      data.money.further && button("Go on …", () => ask(goOn()), "primary"),
      button("Stop now …", () => ask(stop()), "danger"),
    ];
  }
}

/** @param {RoundsData} data */
const lastSystems = (data) => data.released[data.released.length - 1].systems.length;

// -- words ---------------------------------------------------------------------------------------------------

/** A goal in words: "width=0.03". @param {string} goal */
export function goalWords(goal) {
  const [kind, target] = goal.split("=");
  if (kind === "top") return "it is known which system is best";
  if (kind === "ranking") return "every pair of systems is decided";
  if (kind === "pairs") return `${target} of the pairs of systems are decided`;
  return kind === "width" ? `every interval is at most ${target} wide` : goal;
}

/** @param {Pick<RoundsData, "goal" | "question" | "model">} data */
function goalLine({ goal, question, model }) {
  const about = question === "these" ? "these topics" : "topics of this kind";
  return `Asked in rounds until ${goalWords(goal)}. Scores are estimated from what people and ${model} say, for ${about}.`;
}

/** How it is going, as the tone of a notice and a sentence. @param {RoundsData} data @returns {[string, string]} */
export function statusLine({ status, stop, round, rounds, open_tasks: open }) {
  const where = `Round ${round} of ${rounds}`;
  if (status === "stopped" && stop)
    return [stop.reason === "goal" ? "good" : "warn", `${where}, stopped: ${stop.text}.`];
  if (status === "looking") return ["", `${where}: all answers are in; the next look is being taken.`];
  if (status === "asking")
    return ["", `${where}: ${plural(open, "task")} still ${open === 1 ? "lacks" : "lack"} answers.`];
  return ["warn", `${where}: the campaign is ${status}, so no further round is released.`];
}

/** @param {RoundsData} data */
function notes({ simulated, lacks_places: lacking, people, looks }) {
  const said = looks.length ? looks[looks.length - 1].notes : [];
  return [
    simulated && el("p.notice.warn", "Simulated: these answers are from a rehearsal, not from people."),
    lacking &&
      el(
        "p.notice.warn",
        `This round needs about ${plural(people ?? 0, "more person", "more people")} on the platform. The server adds ` +
          "places if it has the platform’s token; otherwise use “campaign places”.",
      ),
    said.map((note) => el("p.m-help", el("bdi", note))),
  ];
}

/** @param {RoundsData} data */
function figures({ decided, pairs, left, judgments, money, budget }) {
  const gone = Object.keys(left);
  const [spent] = splitCost(money.spent);
  const [now] = splitCost(money.this_round);
  const [next] = splitCost(money.next_round ?? "");
  const [most] = splitCost(money.most);
  setText(byId("decided"), `${count(decided.length)} of ${count(pairs)}`);
  setText(
    byId("decided-help"),
    gone.length ? `No more answers needed for ${gone.join(", ")}.` : "All systems are still asked about.",
  );
  setText(byId("judged"), percent(judgments.asked, judgments.whole));
  setText(
    byId("judged-help"),
    `${count(judgments.asked)} of ${count(judgments.whole)} judgments asked; at most ${count(judgments.planned)} planned.`,
  );
  setText(byId("spent"), spent);
  setText(byId("spent-help"), `This round ${now}, ${money.next_round ? `next round ${next}` : "no next round"}.`);
  setText(byId("most"), most);
  setText(byId("most-help"), budget ? `The budget is ${budget}.` : "If it goes on to the last round.");
}

// -- intervals -----------------------------------------------------------------------------------------------

/**
 * What each look said of each system, best first by the last look.
 * @param {Pick<RoundsData, "looks">} data
 * @returns {{ system: string, seen: { look: number, standing: Standing }[] }[]}
 */
export function bySystem({ looks }) {
  const last = looks[looks.length - 1];
  return (last?.standings ?? [])
    .toSorted((a, b) => b.score - a.score || (a.system < b.system ? -1 : 1))
    .map(({ system }) => ({
      system,
      seen: looks.flatMap(({ number: look, standings }) => {
        const standing = standings.find((one) => one.system === system);
        return standing ? [{ look, standing }] : [];
      }),
    }));
}

/** The tenths around all intervals. @param {{ low: number, high: number }[]} all @returns {[number, number]} */
export function scale(all) {
  const low = Math.floor(10 * Math.min(...all.map((one) => one.low)) + 1e-9) / 10;
  const high = Math.ceil(10 * Math.max(...all.map((one) => one.high)) - 1e-9) / 10;
  return [low, Math.max(high, low + 0.1)];
}

/** @param {RoundsData} data */
function systemCharts(data) {
  const systems = bySystem(data);
  const all = data.looks.flatMap(({ standings }) => standings);
  const [low, high] = scale(all);
  return systems.map(({ system, seen }) => {
    const { standing } = seen[seen.length - 1];
    const now = `${fixed(standing.score, 3)} (${fixed(standing.low, 3)} to ${fixed(standing.high, 3)})`;
    const left = data.left[system];
    const label = `${system}: after look ${seen[seen.length - 1].look} the score is ${now}.`;
    return el(
      "figure.m-interval",
      { class: left ? "m-interval m-interval-left" : "m-interval" },
      el("figcaption", name(system), el("span.m-help", left ? `${now}, left after look ${left}` : now)),
      intervals(
        seen.map(({ look, standing: s }) => ({ look, score: s.score, low: s.low, high: s.high })),
        { looks: data.rounds, low, high, label },
      ),
    );
  });
}

/** The same as a table, a row for each system and a column for each look. @param {RoundsData} data */
function standingTable(data) {
  /** @param {string} text */
  const head = (text) => el("th.number", { scope: "col" }, text);
  return el(
    "table.m-small-table",
    el("caption.visually-hidden", "Scores and intervals after each look"),
    el(
      "thead",
      el(
        "tr",
        el("th", { scope: "col" }, "System"),
        data.looks.map((look) => head(`Look ${look.number}`)),
      ),
    ),
    el(
      "tbody",
      bySystem(data).map(({ system, seen }) =>
        el(
          "tr",
          el("th", { scope: "row" }, name(system)),
          data.looks.map((look) => cell(seen, look.number)),
        ),
      ),
    ),
  );
}

/** @param {{ look: number, standing: Standing }[]} seen @param {number} look */
function cell(seen, look) {
  const there = seen.find((one) => one.look === look)?.standing;
  if (!there) return el("td.number", "–");
  return el(
    "td.number",
    `${fixed(there.score, 3)} `,
    el("span.m-help", `${fixed(there.low, 3)} to ${fixed(there.high, 3)}`),
  );
}

// -- tables --------------------------------------------------------------------------------------------------

function pairTable() {
  return new DataTable({
    caption: "Decided pairs",
    noun: "pair",
    key: (row) => JSON.stringify([row.better, row.worse]),
    sort: { by: "Look", direction: "ascending" },
    page: 10,
    filter: (row) => `${row.better} ${row.worse}`,
    columns: [
      column("Better", (row) => row.better, { header: true }),
      column("Worse", (row) => row.worse),
      column("Difference", (row) => row.difference, { kind: "number", cell: (row) => fixed(row.difference, 3) }),
      column("Look", (row) => row.look, { kind: "number", first: "ascending" }),
    ],
    empty: el("p", "No pair is decided yet."),
  });
}

function historyTable() {
  return new DataTable({
    caption: "Rounds so far",
    noun: "round",
    key: (row) => row.number,
    sort: { by: "Round", direction: "ascending" },
    page: 12,
    columns: [
      column("Round", (row) => row.number, { kind: "rank", header: true }),
      column("Released", (row) => row.at, { kind: "when", cell: (row) => when(row.at) }),
      column("By", (row) => row.actor),
      column("Tasks", (row) => row.tasks, { kind: "number" }),
      column("Systems", (row) => row.systems.length, { kind: "number" }),
      column("Reason", (row) => row.reason, { cell: (row) => (row.reason ? name(row.reason) : "–") }),
    ],
    empty: el("p", "No round yet."),
  });
}
