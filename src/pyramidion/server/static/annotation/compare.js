// @ts-check
// Two annotations of one text side by side, disagreements first; a third takes the choice of either, row by row, and
// knows which rows are settled.

import { ApiError, get, path, post } from "../shared/api.js";
import { button, byId, el, name, onSubmit, put, setText, submitButton } from "../shared/dom.js";
import { plural } from "../shared/format.js";
import { errorBox, hush, say } from "../shared/messages.js";
import { shortcuts } from "../shared/shortcuts.js";
import { sideOfMatches, sideOfUnit, takeMatches, takeUnit, thirdUnit } from "./adjudicating.js";
import { isDecided } from "./commands.js";
import { agreementLine, drawProgress, Outcomes, SIDES, SideTexts } from "./sides.js";
import { Work } from "./work.js";

/** @import { Child } from "../shared/dom.js" */
/** @import { Origin } from "./adjudicating.js" */
/** @import { Command, Contributor, Mark, NamedText, Unit } from "./commands.js" */
/**
 * @typedef {"first" | "second"} Side
 * @typedef {{ unit: string, first: any, second: any, same: boolean, differing: string[], fields: string[] }}
 *   Row what both say: units, or mentions; the references and fields ("label", "comment") in which units differ
 * @typedef {{ id: number, name: string, owner: string, url: string, score?: any, adjudicates: number[],
 *   may_edit?: boolean }} About an annotation
 *
 * @typedef {{ kind: "pyramid" | "peer", topic: string, system: string, first: About, second: About,
 *   texts: NamedText[], pyramid: Unit[], rows: Row[], thirds: About[],
 *   agreement: { same: number, of: number, words: number | null, alpha: number | null } }}
 *   Compared what /api/annotate/compare says
 */
/** @typedef {{ row: Row, node: HTMLTableRowElement, third: HTMLElement }} Line */

/** How the server says that there is no such annotation, that two are of different texts, or that a number is too large. */
const UNCOMPARABLE = [404, 409, 422];

/** @param {HTMLElement} main */
export async function openComparison(main) {
  const asked = new URLSearchParams(location.search);
  const [first, second] = [Number(asked.get("first")), Number(asked.get("second"))];
  const compared = await askFor(first, second);
  if (!compared) return;
  byId("compared").hidden = false;
  const page = new Comparison(compared, main);
  const { thirds } = compared;
  const wanted = Number(asked.get("third"));
  const known = thirds.find(({ id }) => id === wanted) ?? (wanted ? null : thirds.findLast((each) => each.may_edit));
  const last = known ?? (wanted ? null : thirds.at(-1));
  if (last) await page.open(last.id, last.adjudicates[0] === second ? "second" : "first");
  else if (wanted) await page.open(wanted, asked.get("start") === "second" ? "second" : "first");
  else page.show();
}

/**
 * Both annotations; null where the address does not name two that can be compared, which the page then says.
 * @param {number} first @param {number} second @returns {Promise<Compared | null>}
 */
async function askFor(first, second) {
  const areNumbers = Number.isSafeInteger(first) && Number.isSafeInteger(second) && first > 0 && second > 0;
  if (!areNumbers) return sayHow("The address of this page does not name two annotations.");
  try {
    return await get(path`/api/annotate/compare?first=${first}&second=${second}`);
  } catch (error) {
    if (!(error instanceof ApiError) || !UNCOMPARABLE.includes(error.status)) throw error;
    return sayHow("These two cannot be compared: one does not exist, or they differ in their text or pyramid.");
  }
}

/** @param {string} problem */
function sayHow(problem) {
  put(
    byId("notices"),
    el("p", problem),
    el(
      "p",
      el("a.m-strong", { href: "/annotate" }, "Choose two annotations on the desk"),
      ", then put them side by side.",
    ),
  );
  return null;
}

class Comparison {
  #only = true;
  /** @type {Work | null} */
  #work = null;
  /** The side that the third began with, and the names of all its units. @type {Origin} */
  #origin = { start: "first", known: new Set() };
  /** The row that the keys are about: the one with the focus, or where the pointer was last. @type {Line | null} */
  #current = null;
  /** How many commands each choice was, the last one last: they are undone together. @type {number[]} */
  #steps = [];

  /** @param {Compared} compared @param {HTMLElement} main */
  constructor(compared, main) {
    this.compared = compared;
    this.isPeer = compared.kind === "peer";
    this.me = String(main.dataset.me);
    this.mayEdit = main.dataset.mayEdit === "yes";
    this.texts = new SideTexts(compared, byId("texts"));
    this.outcomes = new Outcomes(compared);
    this.labels = new Map(compared.pyramid.map((unit) => [unit.id, unit]));
    put(byId("title"), name(compared.topic), compared.system && [" / ", name(compared.system)]);
    put(byId("facts"), el("p", agreementLine(compared)), this.outcomes.node);
    this.lines = compared.rows.map((row) => this.#line(row));
    this.#draw();
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #draw() {
    const { rows } = this.compared;
    const differ = rows.filter((row) => !row.same).length;
    const box = el("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      this.#only = box.checked;
      this.show();
    });
    put(
      byId("rows"),
      el(
        "div.m-toolbar",
        el("strong", differ ? plural(differ, "disagreement") : "No disagreements"),
        el("span.m-help", `${plural(rows.length - differ, "row")} alike`),
        el("label.m-check", box, "Only disagreements"),
      ),
      el(
        "div.m-scroll",
        el(
          "table.m-table.m-blocks.a-rows",
          { role: "table" }, // said, because a phone shows the rows as blocks
          el("caption.visually-hidden", "Disagreements first"),
          el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, this.#heads())),
          el("tbody", { role: "rowgroup" }, ...this.lines.map((line) => line.node)),
        ),
      ),
    );
  }

  #heads() {
    /** @param {...Child} content */
    const head = (...content) => el("th.m-unsorted", { scope: "col", role: "columnheader" }, ...content);
    const sides = SIDES.map((side) => {
      const about = this.compared[side];
      return head(el("a", { href: about.url }, name(about.name)), " of ", name(about.owner));
    });
    return [this.isPeer && head("Unit"), ...sides, head("Third")];
  }

  /** @param {Side} side */
  #titleOf = (side) => `${this.compared[side].name} of ${this.compared[side].owner}`;

  // -- rows ----------------------------------------------------------------------------------------------------

  /** @param {Row} row @returns {Line} */
  #line(row) {
    const third = el("div.a-third");
    const about = this.isPeer && el("th", { scope: "row", role: "rowheader" }, this.#unitCell(row.unit));
    const cells = SIDES.map((side) =>
      el(
        "td",
        { role: "cell", "data-label": this.#titleOf(side) },
        this.isPeer ? this.#mentions(row[side]) : this.#unit(row[side], row),
      ),
    );
    const only = onlyDiffering(row);
    const decision = el("td", { role: "cell" }, only && el("p.m-help", only), third);
    const node = el("tr", { role: "row", class: row.same ? "a-same" : "a-differs" }, about, cells, decision);
    const line = { row, node, third };
    node.addEventListener("pointermove", (event) => (event.movementX || event.movementY) && this.#look(line));
    node.addEventListener("focusin", () => this.#look(line));
    return line;
  }

  /** @param {Line} line */
  #look(line) {
    if (this.#current === line) return;
    this.#current?.node.removeAttribute("aria-current");
    this.#current = line;
    line.node.setAttribute("aria-current", "true");
    this.texts.show(line.row);
  }

  /** @param {string} id */
  #unitCell(id) {
    const unit = this.labels.get(id);
    if (!unit) return id === "" ? el("em", "in no unit") : name(id);
    return [el("span.a-weight", String(unit.weight)), " ", el("bdi", unit.label || "no label")];
  }

  /** @param {Unit | null} unit @param {Row} row */
  #unit(unit, { differing, fields }) {
    if (!unit) return el("em.muted", "no such unit");
    /** @param {Contributor} contributor */
    const item = ({ reference, spans }) =>
      el(
        differing.includes(reference) ? "li.a-differing" : "li",
        el("bdi.a-from", reference),
        el("bdi.a-words", this.texts.quote(reference, spans)),
      );
    /** @param {string} field @param {string} text */
    const said = (field, text) => el(fields.includes(field) ? "bdi.a-differing" : "bdi", text);
    const comment = unit.comment || (fields.includes("comment") && "no comment");
    return [
      el("p.a-row-label", el("span.a-weight", String(unit.weight)), " ", said("label", unit.label || "no label")),
      comment && el("p.a-row-comment", said("comment", comment)),
      el("ul.a-contributors", unit.contributors.map(item)),
    ];
  }

  /** @param {Mark[]} mentions */
  #mentions(mentions) {
    if (!mentions.length) return el("em.muted", "not matched");
    const [{ name: of }] = this.compared.texts;
    /** @param {Mark} mention */
    const words = ({ spans }) => el("li", el("bdi.a-words", this.texts.quote(of, spans) || "(no place given)"));
    return el("ul.a-contributors", mentions.map(words));
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
    const undo = work.mayEdit && button("Undo", () => this.#undo(work), "small");
    const whose = annotation.owner === this.me ? "" : [" of ", name(annotation.owner)];
    const keys = work.mayEdit && el("span.m-help", el("kbd", "1"), " ", el("kbd", "2"), " take a side and go on");
    const others = this.compared.thirds.filter((each) => each.id !== id);
    put(
      byId("third"),
      el("div.actions", el("span", "The third: ", link, whose), undo, keys, saving),
      el("div.a-settled", { id: "settled", role: "status" }),
      others.length > 0 &&
        el(
          "p.m-help",
          "Also begun: ",
          others.map((each, i) => [i > 0 && ", ", el("a", { href: each.url }, name(each.name))]),
        ),
    );
    this.show();
    await work.start();
  }

  show() {
    if (!this.#work) this.#beginBox();
    const open = this.lines.filter(({ row }) => !row.same);
    for (const line of this.lines) {
      line.node.hidden = this.#only && line.row.same;
      if (this.#work) this.#choices(line, this.#work);
    }
    if (!this.#work) return;
    drawProgress(open.filter(({ third }) => third.dataset.settled === "true").length, open.length);
    this.outcomes.third(this.#work.state);
  }

  /** A row by the units that it is about. @param {Row} row @returns {[first: string, second: string]} */
  #ids = (row) => (this.isPeer ? [row.unit, row.unit] : [row.first?.id ?? "", row.second?.id ?? ""]);

  /** @param {Line} line @param {Work} work */
  #choices({ row, third: place, node }, work) {
    const { pyramid, peer } = work.state;
    const side = peer ? sideOfMatches(row, peer) : sideOfUnit(row, pyramid.units, this.#origin);
    const decided = isDecided(work.state, ...this.#ids(row));
    // A third from an older release does not know; there, whatever differs from what it began with was chosen.
    const unknown = !work.state.annotation.adjudicates.length;
    const settled = row.same || decided || (unknown && side !== this.#origin.start);
    const shown = `${side} ${settled} ${work.mayEdit}`;
    if (place.dataset.shown === shown) return;
    Object.assign(place.dataset, { shown, settled: String(settled) });
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    const focused = active && place.contains(active) ? active.dataset.take : null;
    const unit = peer ? row.unit : thirdUnit(row, pyramid.units, this.#origin)?.id;
    const edit = { href: `${work.state.annotation.url}${unit ? `#unit=${encodeURIComponent(unit)}` : ""}` };
    put(
      place,
      !row.same && el("span", { class: settled ? "badge good" : "badge warn" }, settled ? "Settled" : "Open"),
      row.same && side === "both"
        ? el("span.m-help", "as both")
        : work.mayEdit &&
            el(
              "div.a-take",
              SIDES.map((which) => this.#choice(row, which, side, settled, work)),
            ),
      side === "other" && el("span.m-help", "something else"),
      side === "other" && !settled && work.mayEdit && button("Keep it", () => this.#settle(row, [], work), "small"),
      !row.same && work.mayEdit && el("a.small", edit, "Edit in the third"),
    );
    /** @type {HTMLElement | null} */
    const again = place.querySelector(`[data-take="${focused}"]`);
    again?.focus();
    node.classList.toggle("a-taken", settled);
  }

  /** @param {Row} row @param {Side} which @param {string} side @param {boolean} settled @param {Work} work */
  #choice(row, which, side, settled, work) {
    const label = [which === "first" && "◀ ", name(this.compared[which].name), which === "second" && " ▶"];
    const choice = button(label, () => this.#take(row, which, work), "small");
    choice.setAttribute("aria-pressed", String(settled && side === which));
    choice.dataset.take = which;
    return choice;
  }

  /** @param {Row} row @param {Side} side @param {Work} work */
  #take(row, side, work) {
    const { pyramid, peer } = work.state;
    const commands = peer
      ? takeMatches(row.unit, row[side], peer)
      : takeUnit(row[side], thirdUnit(row, pyramid.units, this.#origin));
    this.#settle(row, commands, work);
  }

  /** @param {Row} row @param {Command[]} commands that make it so @param {Work} work */
  #settle(row, commands, work) {
    const [first, second] = this.#ids(row);
    if (!isDecided(work.state, first, second)) commands.push({ type: "decide", first, second });
    hush();
    this.#steps.push(commands.filter((command) => work.do(command)).length);
  }

  /** @param {Work} work */
  #undo(work) {
    hush();
    if (!work.undoable) return say("There is nothing to undo.");
    for (let step = this.#steps.pop() ?? 1; step > 0; step -= 1) work.undo();
  }

  /** 1 and 2 take a side of the row that is looked at, and go on to the next one that is open. @param {KeyboardEvent} event */
  #key(event) {
    const side = { 1: SIDES[0], 2: SIDES[1] }[event.key];
    const work = this.#work;
    if (!side || !work?.mayEdit || !shortcuts.takes(event)) return;
    event.preventDefault();
    const at = this.#current ?? this.#nextOpen(null);
    if (!at || at.row.same) return;
    this.#take(at.row, side, work);
    const next = this.#nextOpen(at);
    /** @type {HTMLElement | null | undefined} */
    const target = (next ?? at).third.querySelector("button");
    target?.focus();
    (next ?? at).node.scrollIntoView({ block: "nearest" });
    if (!next) say("All disagreements are settled.");
  }

  /** @param {Line | null} line @returns {Line | undefined} */
  #nextOpen(line) {
    const from = line ? this.lines.indexOf(line) + 1 : 0;
    const order = [...this.lines.slice(from), ...this.lines.slice(0, from)];
    return order.find(({ row, third }) => !row.same && third.dataset.settled !== "true");
  }

  #beginBox() {
    if (!this.mayEdit) {
      byId("third").hidden = true;
      return;
    }
    if (byId("third").hasChildNodes()) return;
    const title = el("input", { id: "third-name", type: "text", value: "adjudicated", maxlength: "100" });
    /** @param {Side} side */
    const option = (side) => el("option", { value: side }, this.#titleOf(side));
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
        const other = side === "first" ? "second" : "first";
        const { [side]: from, [other]: against } = this.compared;
        const body = { start: from.id, other: against.id, name: title.value.trim(), shared: shared.checked };
        const made = await post("/api/annotate/adjudicate", body);
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

/** What a row says where the contributors are alike. @param {Row} row */
const onlyDiffering = ({ differing, fields }) => {
  if (differing.length || !fields.length) return "";
  return fields.length > 1 ? "only the label and the comment differ" : `only the ${fields[0]} differs`;
};
