// @ts-check
// Two annotations of one text side by side, disagreements first; a third takes the choice of either, row by row.

import { get, path, post } from "../shared/api.js";
import { button, byId, el, name, onSubmit, put, setText, submitButton } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { errorBox, say } from "../shared/messages.js";
import { sideOfMatches, sideOfUnit, takeMatches, takeUnit, thirdUnit } from "./commands.js";
import { Places } from "./spans.js";
import { Work } from "./work.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { Contributor, Mark, NamedText, Origin, Unit } from "./commands.js" */
/** @import { Span } from "./spans.js" */
/**
 * @typedef {"first" | "second"} Side
 * @typedef {{ unit: string, first: any, second: any, same: boolean, differing: string[] }}
 *   Row what both say: units, or mentions
 * @typedef {{ id: number, name: string, owner: string, url: string }} About one of the two annotations
 *
 * @typedef {{ kind: "pyramid" | "peer", topic: string, system: string, first: About, second: About,
 *   texts: NamedText[], pyramid: Unit[], rows: Row[] }} Compared what /api/annotate/compare says
 */

/** @type {Side[]} */
const SIDES = ["first", "second"];

/** @param {HTMLElement} main */
export async function openComparison(main) {
  const asked = new URLSearchParams(location.search);
  const [first, second] = [Number(asked.get("first")), Number(asked.get("second"))];
  const page = new Comparison(await get(path`/api/annotate/compare?first=${first}&second=${second}`), main);
  const third = Number(asked.get("third"));
  if (third) await page.open(third, asked.get("start") === "second" ? "second" : "first");
  else page.show();
}

class Comparison {
  #only = true;

  /** @type {Work | null} */
  #work = null;
  /** The side that the third began with, and the names of all its units. @type {Origin} */
  #origin = { start: "first", known: new Set() };

  /** @param {Compared} compared @param {HTMLElement} main */
  constructor(compared, main) {
    this.compared = compared;
    this.isPeer = compared.kind === "peer";
    this.me = String(main.dataset.me);
    this.mayEdit = main.dataset.mayEdit === "yes";
    this.texts = new Map(compared.texts.map(({ name: of, text }) => [of, { text, places: new Places(text) }]));
    this.labels = new Map(compared.pyramid.map((unit) => [unit.id, unit]));
    put(byId("title"), name(compared.topic), compared.system && [" / ", name(compared.system)]);
    this.lines = compared.rows.map((row) => this.#line(row));
    const differ = compared.rows.filter((row) => !row.same).length;
    const box = el("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      this.#only = box.checked;
      this.show();
    });
    put(
      byId("rows"),
      el(
        "div.m-toolbar",
        el("strong", differ ? `${plural(differ, "disagreement")}` : "No disagreements"),
        el("span.m-help", `${plural(compared.rows.length - differ, "row")} alike`),
        el("label.m-check", box, "Only disagreements"),
      ),
      el(
        "div.m-scroll",
        el(
          "table.m-table.a-rows",
          el("caption.visually-hidden", "Disagreements first"),
          el("thead", el("tr", this.#heads())),
          el("tbody", ...this.lines.map((line) => line.node)),
        ),
      ),
    );
  }

  #heads() {
    /** @param {...Child} content */
    const head = (...content) => el("th.m-unsorted", { scope: "col" }, ...content);
    const sides = SIDES.map((side) => {
      const about = this.compared[side];
      return head(el("a", { href: about.url }, name(about.name)), " of ", name(about.owner));
    });
    return [this.isPeer && head("Unit"), ...sides, head("Third")];
  }

  // -- rows ----------------------------------------------------------------------------------------------------

  /** @param {Row} row */
  #line(row) {
    const third = el("td.a-third");
    const about = this.isPeer && el("th", { scope: "row" }, this.#unitCell(row.unit));
    const cells = SIDES.map((side) =>
      el("td", this.isPeer ? this.#mentions(row[side]) : this.#unit(row[side], row.differing)),
    );
    const node = el("tr", { class: row.same ? "a-same" : "a-differs" }, about, cells, third);
    return { row, node, third };
  }

  /** @param {string} id */
  #unitCell(id) {
    const unit = this.labels.get(id);
    if (!unit) return id === "" ? el("em", "in no unit") : name(id);
    return [el("span.a-weight", String(unit.weight)), " ", el("bdi", unit.label || "no label")];
  }

  /** @param {Unit | null} unit @param {string[]} differing */
  #unit(unit, differing) {
    if (!unit) return el("em.muted", "no such unit");
    /** @param {Contributor} contributor */
    const item = ({ reference, spans }) =>
      el(
        differing.includes(reference) ? "li.a-differing" : "li",
        el("bdi.a-from", reference),
        el("bdi.a-words", this.#quote(reference, spans)),
      );
    return [
      el("p.a-row-label", el("span.a-weight", String(unit.weight)), " ", el("bdi", unit.label || "no label")),
      el("ul.a-contributors", unit.contributors.map(item)),
    ];
  }

  /** @param {Mark[]} mentions */
  #mentions(mentions) {
    if (!mentions.length) return el("em.muted", "not matched");
    const [of] = this.texts.keys();
    /** @param {Mark} mention */
    const words = ({ spans }) => el("li", el("bdi.a-words", this.#quote(of, spans) || "(no place given)"));
    return el("ul.a-contributors", mentions.map(words));
  }

  /** @param {string} of @param {Span[]} spans */
  #quote(of, spans) {
    const held = this.texts.get(of);
    const pieces = held?.places.toUnits(spans).map(([start, end]) => held.text.slice(start, end));
    return pieces?.join(" … ") ?? "";
  }

  // -- the third -----------------------------------------------------------------------------------------------

  /** @param {number} id @param {Side} start */
  async open(id, start) {
    const work = new Work(await get(path`/api/annotate/${id}`), this.me);
    const saving = el("span.m-help", { role: "status" });
    this.#work = work;
    this.#origin = { start, known: new Set(this.compared.rows.map((row) => row[start]?.id)) };
    work.on("change", () => this.show());
    work.on("refused", ({ reason }) => say(reason));
    work.on("conflict", ({ reason }) => say(`Your change was not made: ${reason}`));
    work.on("saving", ({ text }) => setText(saving, text));
    const { annotation } = work.state;
    const link = el("a.m-strong", { href: annotation.url }, name(annotation.name));
    const undo = button("Undo", () => work.undo(), "small");
    put(byId("third"), el("div.actions", el("span", "The third: ", link), undo, saving));
    this.show();
    await work.start();
  }

  show() {
    if (!this.#work) this.#beginBox();
    for (const { row, node, third } of this.lines) {
      node.hidden = this.#only && row.same;
      if (this.#work) this.#choices(row, third, node, this.#work);
    }
  }

  /** @param {Row} row @param {HTMLElement} place @param {HTMLElement} node @param {Work} work */
  #choices(row, place, node, work) {
    const { pyramid, peer } = work.state;
    const side = peer ? sideOfMatches(row, peer) : sideOfUnit(row, pyramid.units, this.#origin);
    if (place.dataset.side === side) return;
    place.dataset.side = side;
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    const focused = active && place.contains(active) ? active.dataset.take : null;
    /** @param {Side} which */
    const take = (which) => {
      const label = [which === "first" && "◀ ", name(this.compared[which].name), which === "second" && " ▶"];
      const choice = button(label, () => this.#take(row, which, work), "small");
      choice.setAttribute("aria-pressed", String(side === which));
      choice.dataset.take = which;
      return choice;
    };
    put(
      place,
      side === "both" ? el("span.m-help", "as both") : el("div.a-take", SIDES.map(take)),
      side === "other" && el("span.m-help", "something else"),
    );
    /** @type {HTMLElement | null} */
    const again = place.querySelector(`[data-take="${focused}"]`);
    again?.focus();
    node.classList.toggle("a-taken", side !== "other");
  }

  /** @param {Row} row @param {Side} side @param {Work} work */
  #take(row, side, work) {
    const { pyramid, peer } = work.state;
    const commands = peer
      ? takeMatches(row.unit, row[side], peer)
      : takeUnit(row[side], thirdUnit(row, pyramid.units, this.#origin));
    for (const command of commands) work.do(command);
  }

  #beginBox() {
    if (!this.mayEdit) {
      byId("third").hidden = true;
      return;
    }
    if (byId("third").hasChildNodes()) return;
    const title = el("input", { id: "third-name", type: "text", value: "adjudicated", maxlength: "100" });
    /** @param {Side} side */
    const option = (side) =>
      el("option", { value: side }, `${this.compared[side].name} of ${this.compared[side].owner}`);
    const start = el("select", { id: "third-start" }, SIDES.map(option));
    const shared = el("input", { type: "checkbox" });
    const problem = el("div");
    const begin = submitButton("Begin the third");
    /** @param {string} label @param {HTMLElement} input */
    const field = (label, input) => el("div.field", el("label", { for: input.id }, label), input);
    const send = async () => {
      put(problem);
      try {
        const side = start.value === "second" ? "second" : "first";
        const body = { start: this.compared[side].id, name: title.value.trim(), shared: shared.checked };
        const made = await post("/api/annotate/adjudicate", body);
        const asked = new URLSearchParams(location.search);
        asked.set("third", made.id);
        asked.set("start", side);
        history.replaceState(null, "", `?${asked}`);
        await this.open(made.id, side);
      } catch (error) {
        put(problem, errorBox(error));
      }
    };
    const form = el(
      "form.m-row",
      { novalidate: true },
      field("Name of the third annotation", title),
      field("It begins as", start),
      el("label.choice", shared, "Shared"),
      begin,
    );
    onSubmit(form, begin, send);
    put(byId("third"), el("h2", "Make a third"), form, problem);
  }
}
