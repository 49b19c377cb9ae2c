// Two annotations of one text side by side, disagreements first; a third takes the choice of either, row by row.

import { errorBox, get, post } from "./manager-api.js";
import { busy, byId, el, name, plural, put, setText } from "./manager-dom.js";
import { say } from "./manager-live.js";
import { sideOfMatches, sideOfUnit, takeMatches, takeUnit, thirdUnit } from "./annotate-choose.js";
import { Places } from "./annotate-spans.js";
import { Work } from "./annotate-work.js";

const SIDES = ["first", "second"];

export async function openComparison(main) {
  const asked = new URLSearchParams(location.search);
  const [first, second] = [asked.get("first"), asked.get("second")];
  const found = await get(`/api/annotate/compare?first=${Number(first)}&second=${Number(second)}`);
  const page = new Comparison(found, main);
  const third = Number(asked.get("third"));
  if (third) await page.open(third, asked.get("start") === "second" ? "second" : "first");
  else page.show();
}

class Comparison {
  #only = true;

  constructor(found, main) {
    Object.assign(this, found, { me: main.dataset.me, mayEdit: main.dataset.mayEdit === "yes", work: null });
    this.texts = new Map(
      found.texts.map(({ name: of, text }) => [of, { text, places: new Places(text) }]),
    );
    this.labels = new Map(found.pyramid.map((unit) => [unit.id, unit]));
    put(byId("title"), name(found.topic), found.system && [" / ", name(found.system)]);
    this.lines = found.rows.map((row) => this.#line(row));
    const differ = found.rows.filter((row) => !row.same).length;
    const box = el("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      this.#only = box.checked;
      this.show();
    });
    put(
      byId("rows"),
      el(
        "div",
        { class: "m-toolbar" },
        el("strong", {}, differ ? `${plural(differ, "disagreement")}` : "No disagreements"),
        el("span", { class: "m-help" }, `${plural(found.rows.length - differ, "row")} alike`),
        el("label", { class: "m-check" }, box, "Only disagreements"),
      ),
      el(
        "div",
        { class: "m-scroll" },
        el(
          "table",
          { class: "m-table a-rows" },
          el("caption", { class: "visually-hidden" }, "Disagreements first"),
          el("thead", {}, el("tr", {}, this.#heads())),
          el(
            "tbody",
            {},
            this.lines.map((line) => line.node),
          ),
        ),
      ),
    );
  }

  #heads() {
    const head = (about) => el("th", { scope: "col", class: "m-unsorted" }, el("a", { href: about.url }, name(about.name)), " of ", name(about.owner));
    const unit = this.kind === "peer" && el("th", { scope: "col", class: "m-unsorted" }, "Unit");
    return [unit, head(this.first), head(this.second), el("th", { scope: "col", class: "m-unsorted" }, "Third")];
  }

  // -- rows ----------------------------------------------------------------------------------------------------

  #line(row) {
    const third = el("td", { class: "a-third" });
    const about = this.kind === "peer" && el("th", { scope: "row" }, this.#unitCell(row.unit));
    const cells = SIDES.map((side) =>
      el("td", {}, this.kind === "peer" ? this.#mentions(row[side]) : this.#unit(row[side], row.differing)),
    );
    const node = el("tr", { class: row.same ? "a-same" : "a-differs" }, about, cells, third);
    return { row, node, third };
  }

  #unitCell(id) {
    const unit = this.labels.get(id);
    if (!unit) return id === "" ? el("em", {}, "in no unit") : name(id);
    return [el("span", { class: "a-weight" }, String(unit.weight)), " ", el("bdi", {}, unit.label || "no label")];
  }

  #unit(unit, differing) {
    if (!unit) return el("em", { class: "muted" }, "no such unit");
    return [
      el("p", { class: "a-row-label" }, el("span", { class: "a-weight" }, String(unit.weight)), " ", el("bdi", {}, unit.label || "no label")),
      el(
        "ul",
        { class: "a-contributors" },
        unit.contributors.map(({ reference, spans }) =>
          el(
            "li",
            { class: differing.includes(reference) ? "a-differing" : null },
            el("bdi", { class: "a-from" }, reference),
            el("bdi", { class: "a-words" }, this.#quote(reference, spans)),
          ),
        ),
      ),
    ];
  }

  #mentions(mentions) {
    if (!mentions.length) return el("em", { class: "muted" }, "not matched");
    const [of] = this.texts.keys();
    const words = ({ spans }) => el("li", {}, el("bdi", { class: "a-words" }, this.#quote(of, spans) || "(no place given)"));
    return el("ul", { class: "a-contributors" }, mentions.map(words));
  }

  #quote(of, spans) {
    const { text, places } = this.texts.get(of) ?? {};
    if (!text) return "";
    return places
      .toUnits(spans)
      .map(([start, end]) => text.slice(start, end))
      .join(" … ");
  }

  // -- the third -----------------------------------------------------------------------------------------------

  async open(id, start) {
    const state = await get(`/api/annotate/${id}`);
    this.origin = { start, known: new Set(this.rows.map((row) => row[start]?.id)) };
    this.work = new Work(state, this.me);
    this.work.addEventListener("change", () => this.show());
    this.work.addEventListener("refused", ({ detail }) => say(detail.reason));
    this.work.addEventListener("conflict", ({ detail }) => say(`Not made: ${detail.reason}`));
    this.work.addEventListener("saving", ({ detail }) => this.saving && setText(this.saving, detail.text ?? ""));
    this.#thirdBox();
    this.show();
    await this.work.start();
  }

  show() {
    if (!this.work) this.#beginBox();
    for (const { row, node, third } of this.lines) {
      node.hidden = this.#only && row.same;
      if (this.work) this.#choices(row, third, node);
    }
  }

  #choices(row, place, node) {
    const { pyramid, peer } = this.work.state;
    const side = this.kind === "peer" ? sideOfMatches(row, peer) : sideOfUnit(row, pyramid.units, this.origin);
    const label = { first: this.first.name, second: this.second.name, both: "as both", other: "something else" }[side];
    if (place.dataset.side === side) return;
    place.dataset.side = side;
    const focused = place.contains(document.activeElement) ? document.activeElement.dataset.take : null;
    const take = (which) =>
      el(
        "button",
        {
          type: "button",
          class: "button small",
          "aria-pressed": String(side === which),
          "data-take": which,
          onclick: () => this.#take(row, which),
        },
        which === "first" ? "◀ " : "",
        name(this[which].name),
        which === "second" ? " ▶" : "",
      );
    put(
      place,
      side === "both" ? el("span", { class: "m-help" }, "as both") : el("div", { class: "a-take" }, SIDES.map(take)),
      side === "other" && el("span", { class: "m-help" }, label),
    );
    if (focused) place.querySelector(`[data-take="${focused}"]`)?.focus();
    node.classList.toggle("a-taken", side !== "other");
  }

  #take(row, side) {
    const { pyramid, peer } = this.work.state;
    const commands =
      this.kind === "peer"
        ? takeMatches(row.unit, row[side], peer)
        : takeUnit(row[side], thirdUnit(row, pyramid.units, this.origin));
    for (const command of commands) this.work.do(command);
  }

  #thirdBox() {
    const { annotation } = this.work.state;
    this.saving = el("span", { class: "m-help", role: "status" });
    const undo = el("button", { type: "button", class: "button small", onclick: () => this.work.undo() }, "Undo");
    put(
      byId("third"),
      el(
        "div",
        { class: "actions" },
        el("span", {}, "The third: ", el("a", { href: annotation.url, class: "m-strong" }, name(annotation.name))),
        undo,
        this.saving,
      ),
    );
  }

  #beginBox() {
    if (!this.mayEdit) {
      byId("third").hidden = true;
      return;
    }
    if (byId("third").hasChildNodes()) return;
    const title = el("input", { id: "third-name", type: "text", value: "adjudicated", maxlength: "100" });
    const start = el(
      "select",
      { id: "third-start" },
      SIDES.map((side) => el("option", { value: side }, `${this[side].name} of ${this[side].owner}`)),
    );
    const shared = el("input", { type: "checkbox" });
    const problem = el("div");
    const begin = el("button", { type: "submit", class: "button primary" }, "Begin the third");
    const field = (label, input) => el("div", { class: "field" }, el("label", { for: input.id }, label), input);
    const send = async () => {
      put(problem);
      try {
        const body = { start: this[start.value].id, name: title.value.trim(), shared: shared.checked };
        const made = await post("/api/annotate/adjudicate", body);
        const asked = new URLSearchParams(location.search);
        asked.set("third", made.id);
        asked.set("start", start.value);
        history.replaceState(null, "", `?${asked}`);
        await this.open(made.id, start.value);
      } catch (error) {
        put(problem, errorBox(error));
      }
    };
    const form = el(
      "form",
      { class: "m-row", novalidate: true },
      field("Name of the third annotation", title),
      field("It begins as", start),
      el("label", { class: "choice" }, shared, "Shared"),
      begin,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      busy(begin, send);
    });
    put(byId("third"), el("h2", {}, "Make a third"), form, problem);
  }
}

