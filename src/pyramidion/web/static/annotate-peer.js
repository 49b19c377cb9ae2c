// The editor of a peer's annotation: which units its words express, how often, and what is in no unit.

import { byId, el, put, setText } from "./manager-dom.js";
import { announce, say } from "./manager-live.js";
import { Editor } from "./annotate-editor.js";
import { MatchPanel } from "./annotate-match.js";
import { contributors } from "./annotate-pick.js";
import { Scores } from "./annotate-scores.js";
import { holds } from "./annotate-spans.js";

export class PeerEditor extends Editor {
  constructor(main, state) {
    super(main, state);
    this.detail = new MatchPanel(this);
    this.scores = new Scores(byId("scores"));
    byId("no-unit")?.addEventListener("click", () => this.#run("none"));
  }

  get role() {
    return "Summary";
  }

  get filters() {
    return [
      { value: "all", title: "All units", test: () => true },
      { value: "matched", title: "Matched", test: (unit) => this.matchesOf(unit.id).length > 0 },
      { value: "open", title: "Not matched", test: (unit) => !this.matchesOf(unit.id).length },
      { value: "one", title: "Weight 1", test: (unit) => unit.weight === 1 },
      { value: "unlabelled", title: "No label", test: (unit) => !unit.label.trim() },
    ];
  }

  matchesOf = (id) => this.state.peer.matches.filter((match) => match.unit === id);

  listMentions({ texts: [{ name: text }], peer }) {
    const matches = peer.matches.map(({ id, unit, spans }) => ({ id, unit, text, spans }));
    return [...matches, ...peer.marks.map(({ id, spans }) => ({ id, unit: null, text, spans }))];
  }

  wordsOf = () => "";

  show() {
    super.show();
    const [text] = this.texts.all;
    text.paint(
      "marked",
      this.state.peer.marks.flatMap((mark) => mark.spans),
    );
    this.scores.update(this.state.score, this.work.waiting > 0);
  }

  cardKey(unit) {
    return JSON.stringify([unit.label, unit.weight, unit.comment, this.matchesOf(unit.id).length]);
  }

  drawCard(unit, { node, label, marks, note }) {
    const times = this.matchesOf(unit.id).length;
    setText(label, unit.label || "no label");
    label.classList.toggle("a-unlabelled", !unit.label);
    setText(note, unit.comment ? "✎" : "");
    note.title = unit.comment;
    node.classList.toggle("a-matched", times > 0);
    put(marks, times > 0 && el("span", { class: "a-times" }, times > 1 ? `✓ ×${times}` : "✓", said(times)));
  }

  dropOf(node) {
    const card = node.closest("[data-unit]");
    if (card) return { node: card, mark: "a-drop", drop: () => this.take(card.dataset.unit) };
    const none = node.closest("#no-unit");
    return none && { node: none, mark: "a-drop", drop: () => this.#run("none") };
  }

  // -- what can be done ----------------------------------------------------------------------------------------

  #spans = () => contributors(this.pick).flatMap(({ spans }) => spans);

  /** Match what is picked to a unit; a further match is a repeated mention. */
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
    const { text, word } = this.selecting.cursor ?? {};
    if (!text) return say("Go to the words first.");
    const [[point]] = text.places.toPoints([[text.words.spans[word][0], text.words.spans[word][0]]]);
    const here = this.mentions.filter(({ spans }) => holds(spans, point));
    const found = here.find(({ unit }) => unit === this.current) ?? here[0];
    if (!found) return say("Nothing is matched here.");
    this.removeMention(found);
  }

  removeMention = ({ id, unit }) => this.work.do({ type: unit === null ? "remove_mark" : "unmatch", id });

  removeLast() {
    const last = this.matchesOf(this.current).at(-1);
    if (last) this.removeMention(last);
    else say("This unit is not matched.");
  }

  #run = (wanted) => this.actions().find(({ id }) => id === wanted).run();

  actions() {
    const edits = (run) => () => this.mayEdit && run();
    const ofPick = (run) => edits(() => (this.pick.empty ? say("Pick some words first.") : run()));
    const ofUnit = (run) => () => (this.current === null ? say("Choose a unit first.") : run());
    const [words, unit, view] = ["With the words picked", "With the current unit", "Find"];
    return [
      {
        id: "match",
        key: "a",
        group: words,
        title: "match them to the current unit",
        run: ofPick(ofUnit(() => this.take(this.current))),
      },
      { id: "none", key: "n", group: words, title: "they are in no unit", run: ofPick(() => this.markNone()) },
      { id: "remove", key: "x", group: words, title: "remove the match under the cursor", run: edits(() => this.removeHere()) },
      {
        id: "unmatch",
        key: "Delete",
        shown: "Del",
        where: ".a-tiers",
        group: unit,
        title: "remove its last match (in the list)",
        run: edits(ofUnit(() => this.removeLast())),
      },
      { id: "words", key: "w", group: unit, title: "its words in the summary", run: ofUnit(() => this.goToWords(this.current)) },
      { id: "suggest", key: "s", group: view, title: "proposals", run: () => this.detail.proposals.toggle() },
      { id: "search", key: "/", group: view, title: "search; Enter takes the first", run: () => this.finder.focus() },
      { id: "go", key: "g", group: view, title: "between the text and its units", run: () => this.cross() },
      { id: "unused", key: "u", group: view, title: "the next words about which nothing is said", run: () => this.nextIdle() },
      { id: "help", key: "?", group: view, title: "this help", run: () => this.keys.help() },
    ];
  }
}

const said = (times) => el("span", { class: "visually-hidden" }, times > 1 ? ` matched ${times} times` : " matched");
