// @ts-check
// The end of a task: what is still open or odd, a comment, and sending it.

import { bringIntoView, button, el, put, setText, uniqueId } from "../shared/dom.js";
import { announce, sentence } from "../shared/messages.js";

/** @import { Problem } from "../shared/api.js" */
/** @import { OpenItem, View } from "./task.js" */

const MAX_COMMENT = 2000;

/** Places to go to. @param {OpenItem[]} items */
function links(items) {
  const made = items.map(({ label, go }) => {
    /** @param {MouseEvent} event */
    const follow = (event) => {
      event.preventDefault();
      go();
    };
    return el("li", el("a", { href: "#", dir: "auto", onclick: follow }, label));
  });
  return el("ul.open-list", made);
}

/**
 * What a task ends with. A view with a single question needs no review: only a place for a comment, and the button is
 * elsewhere.
 * @param {{ view: View, comment: string, changed: () => void, submit: () => unknown }} task
 */
export function reviewSection({ view, comment, changed, submit }) {
  const id = uniqueId("review");
  const heading = el("h2", { tabindex: "-1", id }, "Review and submit");
  const status = el("div.review-status");
  const trouble = el("div.notice.bad", { role: "alert", hidden: true });
  const about = { id: `${id}-comment`, rows: "2", dir: "auto", maxlength: MAX_COMMENT };
  const note = el("textarea", { ...about, oninput: changed });
  note.value = comment;
  const send = button("Submit", submit, "primary");
  const hint = el("p.muted.small.send-hint");
  const nudge = new EventTarget();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let ticking;

  const label = el("label", { for: note.id }, "Comment (optional)");
  const node = view.direct
    ? el(
        "section.review.brief",
        { "aria-label": "Comment" },
        el("details", { open: Boolean(comment) }, el("summary", "Add a comment"), el("div.field", label, note)),
        trouble,
        hint,
      )
    : el(
        "section.review.card",
        { "aria-labelledby": id },
        heading,
        status,
        el("div.field", label, note),
        trouble,
        el("div.actions", send, hint),
      );

  /** @param {string} text @param {Problem[]} [list] */
  function problems(text, list = []) {
    trouble.hidden = false;
    const items = list.map((problem) => el("li", { dir: "auto" }, sentence(problem)));
    put(trouble, el("p", { dir: "auto" }, text), items.length > 0 && el("ul", items));
    bringIntoView(send);
    bringIntoView(trouble);
  }

  /** @param {OpenItem[]} open @param {OpenItem[]} odd */
  function state(open, odd) {
    if (open.length) return [el("p", `${open.length} of ${view.total} still open:`), links(open)];
    const done = el("p.complete", el("span", { "aria-hidden": "true" }, "✓ "), view.tally());
    if (!odd.length) return done;
    return [
      el("p.odd", `${view.tally()} Please look at these once more; you can submit them as they are:`),
      links(odd),
    ];
  }

  return {
    node,
    heading,
    send,
    nudge,
    problems,
    comment: () => note.value,
    /** @param {OpenItem[]} open */
    refresh(open) {
      send.disabled = open.length > 0;
      put(status, state(open, view.warnings?.() ?? []));
      setText(hint, open.length && !view.direct ? "You can submit when nothing is open." : "");
    },
    sending() {
      trouble.hidden = true;
      note.readOnly = true;
      setText(send, "Sending ...");
      bringIntoView(send); // it may have been sent by a key from elsewhere on the page
      announce("Sending your answers.");
    },
    /** @param {number} seconds @param {boolean} kept @param {string} why */
    waiting(seconds, kept, why) {
      const until = Date.now() + seconds * 1000;
      clearInterval(ticking);
      const tick = () => {
        const left = Math.ceil((until - Date.now()) / 1000);
        if (left <= 0) clearInterval(ticking);
        setText(send, left > 0 ? `${why} - trying again in ${left} s` : "Sending ...");
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
      announce(`${why}. ${safe}`);
    },
  };
}
