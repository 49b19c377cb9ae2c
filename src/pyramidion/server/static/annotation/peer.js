// @ts-check
// The editor of a peer's annotation: which units its words express, how often, and what is in no unit.

import { get, path } from "../shared/api.js";
import { byId, el, put, setText } from "../shared/dom.js";
import { capital, fixed } from "../shared/format.js";
import { announce, say } from "../shared/messages.js";
import { group } from "./bar.js";
import { Editor } from "./editor.js";
import { contributors } from "./pick.js";
import { Round } from "./round.js";
import { Proposals } from "./suggestions.js";

/** @import { Action } from "./bar.js" */
/** @import { Match, NamedText, State, Unit } from "./commands.js" */
/** @import { Target } from "./drag.js" */
/** @import { Mention } from "./editor.js" */
/** @import { Span } from "../shared/spans.js" */
/** @import { Card, Filter, Quote } from "./tiers.js" */

export class PeerEditor extends Editor {
  /** @param {HTMLElement} main @param {State} state */
  constructor(main, state) {
    super(main, state);
    this.panel = new MatchPanel(this);
    this.scores = new PeerScores(byId("scores"));
    this.round = new Round(this.work);
    this.round.load().catch(() => {}); // the summary at hand can be annotated all the same
    document.getElementById("no-unit")?.addEventListener("click", () => this.run("none"));
  }

  get peer() {
    return this.state.peer ?? { matches: [], marks: [] };
  }

  get role() {
    return "Summary";
  }

  /** @returns {Filter[]} */
  get filters() {
    return [
      { value: "all", title: "All units", test: () => true },
      { value: "matched", title: "Matched", test: (unit) => this.matchesOf(unit.id).length > 0 },
      { value: "open", title: "Not matched", test: (unit) => !this.matchesOf(unit.id).length },
      { value: "one", title: "Weight 1", test: (unit) => unit.weight === 1 },
      { value: "unlabelled", title: "No label", test: (unit) => !unit.label.trim() },
    ];
  }

  /** @param {string | null} id */
  matchesOf = (id) => this.peer.matches.filter((match) => match.unit === id);

  /** @param {State} state @returns {Mention[]} */
  listMentions({ texts: [{ name: text }] }) {
    const { matches, marks } = this.peer;
    return [...matches.map((each) => ({ ...each, text })), ...marks.map((each) => ({ ...each, unit: null, text }))];
  }

  /** What the references say of a unit. @param {Unit} unit */
  wordsOf(unit) {
    return unit.contributors.map(({ reference, spans }) => this.panel?.words(reference, spans) ?? "").join(" ");
  }

  /** @param {Unit} unit @returns {Quote[]} */
  quotesOf(unit) {
    const [text] = this.texts.all;
    const here = this.matchesOf(unit.id).map(({ spans }) => ({
      from: "✓",
      text: this.texts.quote(text.name, spans),
      go: () => this.ways.goTo(text.name, spans),
    }));
    const there = unit.contributors.map(({ reference, spans }) => ({
      from: reference,
      text: this.panel?.words(reference, spans) ?? "",
    }));
    return [...here, ...there];
  }

  showDetail() {
    this.panel?.update();
  }

  show() {
    super.show();
    const spans = this.peer.marks.flatMap((mark) => mark.spans);
    this.texts.all[0].paint("marked", spans);
    this.scores.update(this.state.score, this.work.waiting > 0);
  }

  /** @param {Unit} unit */
  cardKey(unit) {
    const mine = this.matchesOf(unit.id).map(({ spans }) => spans);
    return JSON.stringify([unit.label, unit.weight, unit.comment, unit.contributors, mine]);
  }

  /** @param {Unit} unit @param {Card} card */
  drawCard(unit, card) {
    super.drawCard(unit, card);
    const times = this.matchesOf(unit.id).length;
    const said = el("span.visually-hidden", times > 1 ? ` matched ${times} times` : " matched");
    card.node.classList.toggle("a-matched", times > 0);
    put(card.marks, times > 0 && el("span.a-times", times > 1 ? `✓ ×${times}` : "✓", said));
  }

  /** @param {Element} node @returns {Target | null} */
  dropOf(node) {
    const card = node.closest("[data-unit]");
    if (card) return { node: card, mark: "a-drop", drop: () => this.take(String(card.getAttribute("data-unit"))) };
    const none = node.closest("#no-unit");
    return none && { node: none, mark: "a-drop", drop: () => this.run("none") };
  }

  // -- what can be done ----------------------------------------------------------------------------------------

  #spans = () => contributors(this.pick).flatMap(({ spans }) => spans);

  /** Match what is picked to a unit; a further match is a repeated mention. @param {string} id */
  take(id) {
    if (!this.work.do({ type: "match_unit", unit: id, spans: this.#spans() })) return;
    const times = this.matchesOf(id).length;
    announce(times > 1 ? `Matched, mention ${times}` : "Matched");
    this.pick.clear();
    this.choose(id, { reveal: true });
    this.tiers.reveal(id);
  }

  markNone() {
    if (!this.work.do({ type: "mark_unmatched", spans: this.#spans() })) return;
    announce("Marked as in no unit");
    this.pick.clear();
  }

  /** Take away what is said about the words under the cursor: of the current unit first. */
  removeHere() {
    const { cursor } = this.selecting;
    if (!cursor) return say("Go to the words first.");
    const here = this.mentionsAt(cursor.text, cursor.text.words.spans[cursor.word][0]);
    const mention = here.find(({ unit }) => unit === this.current) ?? here[0];
    if (!mention) return say("Nothing is matched here.");
    this.removeMention(mention);
  }

  /** @param {Pick<Mention, "id" | "unit">} mention */
  removeMention = ({ id, unit }) => this.work.do({ type: unit === null ? "remove_mark" : "unmatch", id });

  removeLast() {
    const last = this.matchesOf(this.current).at(-1);
    if (last) this.removeMention(last);
    else say("This unit is not matched.");
  }

  /** @returns {Action[]} */
  actions() {
    /** @param {() => unknown} run */
    const edits = (run) => () => this.mayEdit && run();
    /** @param {() => unknown} run */
    const ofPick = (run) => edits(() => (this.pick.empty ? say("Pick some words first.") : run()));
    /** @param {(id: string) => unknown} run */
    const ofUnit = (run) => () => (this.current === null ? say("Choose a unit first.") : run(this.current));
    return [
      ...group("With the words picked", [
        { id: "match", key: "a", title: "match them to the current unit", run: ofPick(ofUnit((id) => this.take(id))) },
        { id: "none", key: "n", title: "they are in no unit", run: ofPick(() => this.markNone()) },
        { id: "remove", key: "x", title: "remove the match under the cursor", run: edits(() => this.removeHere()) },
      ]),
      ...group("With the current unit", [
        {
          id: "unmatch",
          key: "Delete",
          shown: "Del",
          where: ".a-tiers",
          title: "remove its last match (in the list)",
          run: edits(ofUnit(() => this.removeLast())),
        },
        { id: "words", key: "w", title: "its words in the summary", run: ofUnit((id) => this.ways.goToWords(id)) },
      ]),
      ...group("Proposals", this.panel?.proposals.actions ?? []),
      ...group("Summaries of the topic", [
        { id: "next", key: "j", title: "the next one; begins it where needed", run: () => this.round.go(1) },
        { id: "previous", key: "k", title: "the one before", run: () => this.round.go(-1) },
      ]),
      ...this.finding(),
    ];
  }
}

/** Beside the summary: the current unit's matches and its words in the references, content in no unit, proposals. */
class MatchPanel {
  #key = "";
  /** The code points of each reference. @type {Map<string, string[]>} */
  #references = new Map();

  /** @param {PeerEditor} editor */
  constructor(editor) {
    this.editor = editor;
    this.place = byId("unit");
    this.proposals = new Proposals(editor);
    this.place.addEventListener("click", ({ target }) => {
      if (/** @type {Element} */ (target).closest("[data-act=suggest]")) this.proposals.toggle();
    });
    this.#loadReferences().catch(() => {}); // labels alone will do
  }

  update() {
    const { editor } = this;
    const { peer } = editor;
    const unit = editor.unit(editor.current);
    const matches = unit ? editor.matchesOf(unit.id) : [];
    const lost = peer.matches.filter(({ id }) => peer.lost?.includes(id));
    const marks = peer.marks.map((mark) => ({ ...mark, unit: null }));
    const key = JSON.stringify([unit, matches, marks, lost, editor.mayEdit]);
    if (key === this.#key) return;
    this.#key = key;
    put(
      this.place,
      unit ? this.#unit(unit, matches) : el("p.muted", "Choose a unit to see what it says."),
      lost.length > 0 && this.#list("Units that the pyramid no longer has", lost),
      marks.length > 0 && this.#list("In no unit", marks),
      this.proposals.node,
    );
    this.proposals.refresh();
  }

  /** @param {Unit} unit @param {Match[]} matches */
  #unit(unit, matches) {
    const from = unit.contributors.map(({ reference, spans }) =>
      el("li", el("bdi.a-from", reference), el("bdi.a-words", this.words(reference, spans))),
    );
    return [
      el(
        "header.a-unit-head",
        el("span.a-weight.a-weight-big", { title: "Weight" }, String(unit.weight)),
        el("h2", el("bdi", unit.label || "no label")),
      ),
      unit.comment && el("p.small", el("bdi", unit.comment)),
      matches.length
        ? this.#list(matches.length > 1 ? `Matched ${matches.length} times` : "Matched", matches)
        : el("p.muted.small", "Not matched."),
      from.length > 0 && [
        el("h3.a-sub", "In the references"),
        el("ul.a-contributors", { "aria-label": "Contributors" }, from),
      ],
    ];
  }

  /** @param {string} reference @param {Span[]} spans */
  words(reference, spans) {
    const points = this.#references.get(reference) ?? [];
    return spans.map(([start, end]) => points.slice(start, end).join("")).join(" … ");
  }

  /** The texts of the references do not change with the annotation: they are asked for once. */
  async #loadReferences() {
    /** @type {{ texts: NamedText[] }} */
    const { texts } = await get(path`/api/annotate/${this.editor.work.id}/references`);
    this.#references = new Map(texts.map(({ name, text }) => [name, Array.from(text)]));
    this.#key = "";
    this.update();
    this.editor.tiers.redrawWords();
  }

  /** @param {string} title @param {Pick<Mention, "id" | "unit" | "spans">[]} mentions */
  #list(title, mentions) {
    const { editor } = this;
    const [text] = editor.texts.all;
    const items = mentions.map((mention) => {
      const go = {
        type: "button",
        title: "Go to these words",
        onclick: () => editor.ways.goTo(text.name, mention.spans),
      };
      const quote = editor.texts.quote(text.name, mention.spans) || "(no place given)";
      const remove = { "aria-label": "Remove", title: "Remove", onclick: () => editor.removeMention(mention) };
      const cross = editor.mayEdit && el("button.a-cross", { type: "button", ...remove }, "×");
      return el("li", el("button.a-quote", go, el("bdi", quote)), cross);
    });
    return [el("h3.a-sub", title), el("ul.a-contributors", { "aria-label": title }, items)];
  }
}

const MAIN = ["original", "modified", "comprehensive"];
const MINOR = ["precision", "recall"];

/** The scores of a summary as annotated so far, with what they are made of. */
class PeerScores {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {Map<string, { value: HTMLElement, text: HTMLElement, box: HTMLElement }>} */
    this.shown = new Map();
    this.counts = el("p.a-counts");
  }

  /** @param {any} score @param {boolean} stale whether changes are on their way whose scores are not known yet */
  update(score, stale) {
    this.place.classList.toggle("a-stale", stale);
    if (!score) return;
    if (!this.shown.size) this.#make();
    for (const { name, value, text } of score.parts) {
      const shown = this.shown.get(name);
      if (!shown) continue;
      setText(shown.value, fixed(value, MAIN.includes(name) ? 4 : 2));
      setText(shown.text, text);
      if (MAIN.includes(name)) shown.box.title = text;
    }
    const { matched, repeated, unmatched } = score.counts;
    setText(this.counts, `${matched} matched · ${repeated} repeated · ${unmatched} in no unit`);
  }

  #make() {
    /** @param {string} name */
    const figure = (name) => {
      const [value, text] = [el("dd.a-score"), el("dd.a-score-text")];
      const box = el("div", { "data-score": name }, el("dt", capital(name)), value, text);
      this.shown.set(name, { value, text, box });
      return box;
    };
    /** @param {string} name */
    const minor = (name) => {
      const [value, text] = [el("strong"), el("span")];
      const box = el("p", { "data-score": name }, `${capital(name)} `, value, ": ", text);
      this.shown.set(name, { value, text, box });
      return box;
    };
    const parts = el("details.a-parts", el("summary", this.counts), MINOR.map(minor));
    put(this.place, el("dl.a-figures", MAIN.map(figure)), parts);
  }
}
