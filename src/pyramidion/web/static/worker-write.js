// Write down the facts of a reference as short statements.

import { call } from "./worker-api.js";
import { announce, button, count, el, focusOn, put, setText, uniqueId } from "./worker-dom.js";
import { readingPanel } from "./worker-panel.js";
import { referenceText, squeeze } from "./worker-reference.js";

const MAX_STATEMENT = 500;
const MAX_PASTED = 50;
const QUIET = 500;

export function writeView({ page, answer, changed }) {
  const over = new AbortController();
  const references = page.references.map(referenceText);
  const pasted = (Array.isArray(answer.pasted) ? answer.pasted : []).filter((text) => typeof text === "string");
  const own = new Set();
  const fields = Array.from({ length: page.statements }, (_, index) => field(index, answer.statements?.[index]));
  const bar = el(
    "div",
    { class: "spread-bar", "aria-hidden": "true" },
    references.map(({ bits }) => bits),
  );
  const spread = el("p", { class: "spread-text small muted" });
  const copier = button("", copySelection, "primary small copier");
  copier.hidden = true;
  let current = 0;
  let selected = "";
  let timer;

  function field(index, before) {
    const id = uniqueId("statement");
    const input = el("textarea", {
      id,
      rows: "2",
      dir: "auto",
      maxlength: MAX_STATEMENT,
      "aria-describedby": `${id}-problems`,
    });
    input.value = typeof before === "string" ? before : "";
    const problems = el("ul", { class: "problems small", id: `${id}-problems` });
    const foreign = el(
      "p",
      { class: "problems small", hidden: true },
      "This came from elsewhere, which is noted. Please use only what the text says.",
    );
    const node = el(
      "li",
      { class: "field" },
      el("label", { for: id }, `Statement ${index + 1}`),
      input,
      problems,
      foreign,
    );
    input.addEventListener("focus", () => (current = index));
    input.addEventListener("input", edited);
    // A statement is one line; Enter goes to the next one instead.
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (!event.shiftKey) (fields[index + 1]?.input ?? input).focus();
    });
    for (const type of ["copy", "cut"]) input.addEventListener(type, () => own.add(squeeze(picked(input))));
    input.addEventListener("paste", (event) => record(event.clipboardData, foreign));
    input.addEventListener("drop", (event) => record(event.dataTransfer, foreign));
    return { node, input, problems };
  }

  const picked = (input) => input.value.slice(input.selectionStart, input.selectionEnd);

  /** Text that is neither from the reference nor moved here from another of the fields. */
  function record(data, foreign) {
    const text = squeeze(data?.getData("text/plain") ?? "");
    if (!text || own.has(text) || references.some(({ plain }) => plain.includes(text))) return;
    if (pasted.length < MAX_PASTED) pasted.push(text.slice(0, MAX_STATEMENT));
    foreign.hidden = false;
    announce(foreign.textContent);
    changed();
  }

  const statements = () => fields.map(({ input }) => input.value);

  function edited() {
    paintSpread();
    changed();
    clearTimeout(timer);
    timer = setTimeout(check, QUIET);
  }

  function paintSpread() {
    const texts = statements();
    const used = references.reduce((sum, reference) => sum + reference.show(texts), 0);
    const size = references.reduce((sum, reference) => sum + reference.size, 0);
    setText(spread, `${used} of ${count(size, "sentence")} used`);
  }

  async function check() {
    const asked = statements();
    if (!asked.some((text) => text.trim())) return show([]);
    try {
      const { problems } = await call("POST", "/api/statement-checks", { statements: asked }, { signal: over.signal });
      // An answer about texts that have changed since would be about something else.
      if (statements().every((text, index) => text === asked[index])) show(problems);
    } catch {
      // Advice can wait: it is asked for again with the next change.
    }
  }

  function show(problems) {
    fields.forEach((each, index) => {
      const texts = problems[index] ?? [];
      put(
        each.problems,
        texts.map((text) => el("li", { dir: "auto" }, text)),
      );
    });
  }

  /** The empty field they are in, or the next one. */
  function target() {
    const order = [...fields.slice(current), ...fields.slice(0, current)];
    return order.find(({ input }) => !input.value.trim());
  }

  function followSelection() {
    const selection = getSelection();
    const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    const inside =
      range && references.some(({ node }) => node.contains(range.startContainer) && node.contains(range.endContainer));
    selected = inside ? squeeze(selection.toString()) : "";
    const free = target();
    copier.hidden = !selected;
    if (!selected) return;
    setText(copier, free ? `Copy to statement ${fields.indexOf(free) + 1}` : "All statements are filled");
    copier.disabled = !free;
    place(range);
  }

  /** Just below the selection, within the window. Touch screens put their own menu there: style sheet docks it then. */
  function place(range) {
    const rects = range.getClientRects();
    const end = rects[rects.length - 1];
    if (!end) return;
    const left = Math.min(Math.max(8, end.right - copier.offsetWidth / 2), innerWidth - copier.offsetWidth - 8);
    const below = end.bottom + 6;
    const top = below + copier.offsetHeight > innerHeight - 70 ? end.top - copier.offsetHeight - 6 : below;
    copier.style.setProperty("left", `${left}px`);
    copier.style.setProperty("top", `${Math.max(8, top)}px`);
  }

  function copySelection() {
    const free = target();
    if (!free || !selected) return;
    free.input.value = selected.slice(0, MAX_STATEMENT);
    getSelection().removeAllRanges();
    copier.hidden = true;
    focusOn(free.input);
    free.input.setSelectionRange(free.input.value.length, free.input.value.length);
    announce(`Copied to statement ${fields.indexOf(free) + 1}. You can change it.`);
    edited();
  }

  // A press must not take the selection away before the click arrives.
  copier.addEventListener("pointerdown", (event) => event.preventDefault());
  const { signal } = over;
  document.addEventListener("selectionchange", followSelection, { signal });
  document.addEventListener("scroll", followSelection, { signal, capture: true, passive: true });
  addEventListener("resize", followSelection, { signal });

  const title = references.length > 1 ? "Texts" : "Text";
  const texts = references.map(({ node }, index) => [`Text ${index + 1}`, node]);
  const panel = readingPanel(title, texts, { extra: el("div", { class: "spread" }, bar, spread) });
  panel.append(copier);
  paintSpread();

  return {
    panel,
    work: [
      el(
        "section",
        { class: "writing card" },
        el("h2", {}, "Your statements"),
        el(
          "p",
          { class: "muted" },
          "One fact in each. Select words in the text to copy them here, then change what you like.",
        ),
        el(
          "ol",
          { class: "fields" },
          fields.map(({ node }) => node),
        ),
      ),
    ],
    verb: "written",
    total: fields.length,
    answer: () => ({ statements: statements(), pasted: [...pasted] }),
    open: () =>
      fields.flatMap(({ input }, index) =>
        input.value.trim() ? [] : [{ label: `Statement ${index + 1}`, go: () => focusOn(input, { block: "center" }) }],
      ),
    tally: () => `All ${count(fields.length, "statement")} written.`,
    keys: [[["Enter"], "in a statement: on to the next"]],
    ready: check,
    leave() {
      clearTimeout(timer);
      over.abort();
    },
  };
}
