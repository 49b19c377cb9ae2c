// The end of a task: what is still open, a comment, and sending it.

import { announce, bringIntoView, button, el, put, setText, uniqueId } from "./worker-dom.js";

const MAX_COMMENT = 2000;

export function reviewSection({ view, comment, changed, submit }) {
  const id = uniqueId("review");
  const heading = el("h2", { tabindex: "-1", id }, "Review and submit");
  const status = el("div", { class: "review-status" });
  const trouble = el("div", { class: "notice bad", role: "alert", hidden: true });
  const note = el("textarea", {
    id: `${id}-comment`,
    rows: "2",
    dir: "auto",
    maxlength: MAX_COMMENT,
    oninput: changed,
  });
  note.value = comment;
  const send = button("Submit", submit, "primary");
  const hint = el("p", { class: "muted small send-hint" });
  const nudge = new EventTarget();
  let ticking;

  const node = el(
    "section",
    { class: "review card", "aria-labelledby": id },
    heading,
    status,
    el("div", { class: "field" }, el("label", { for: note.id }, "Comment (optional)"), note),
    trouble,
    el("div", { class: "actions" }, send, hint),
  );

  function problems(text, list = []) {
    trouble.hidden = false;
    const items = list.map(({ where, what }) => el("li", { dir: "auto" }, `${where}: ${what}`));
    put(trouble, el("p", { dir: "auto" }, text), items.length > 0 && el("ul", {}, items));
    bringIntoView(send);
    bringIntoView(trouble);
  }

  return {
    node,
    heading,
    nudge,
    problems,
    comment: () => note.value,
    refresh(open) {
      send.disabled = open.length > 0;
      const links = open.map(({ label, go }) => {
        const link = el("a", { href: "#", dir: "auto", onclick: (event) => (event.preventDefault(), go()) }, label);
        return el("li", {}, link);
      });
      put(
        status,
        open.length
          ? [el("p", {}, `${open.length} of ${view.total} still open:`), el("ul", { class: "open-list" }, links)]
          : el("p", { class: "complete" }, el("span", { "aria-hidden": "true" }, "✓ "), view.tally()),
      );
      setText(hint, open.length ? "You can submit when nothing is open." : "");
    },
    sending() {
      trouble.hidden = true;
      note.readOnly = true;
      setText(send, "Sending ...");
      bringIntoView(send); // it may have been sent by a key from elsewhere on the page
      announce("Sending your answers.");
    },
    waiting(seconds, kept) {
      const until = Date.now() + seconds * 1000;
      clearInterval(ticking);
      const tick = () => {
        const left = Math.ceil((until - Date.now()) / 1000);
        if (left <= 0) clearInterval(ticking);
        setText(send, left > 0 ? `No connection - trying again in ${left} s` : "Sending ...");
      };
      ticking = setInterval(tick, 250);
      tick();
      const safe = kept
        ? "Your answers are kept on this device and will be sent once, even if you close this page and come back later. "
        : "Please keep this page open. ";
      const first = !hint.textContent;
      setText(hint, `${safe}Press the button to try at once.`);
      if (!first) return;
      bringIntoView(hint);
      announce(`No connection. ${safe}`);
    },
  };
}
