// Links that let people join a campaign: made once, then copied or downloaded.

import { errorBox, post } from "./manager-api.js";
import { busy, el, plural, put } from "./manager-dom.js";
import { say } from "./manager-live.js";

const UNNAMED = "One link for one person. Save them now: they are not shown again.";
const NAMED = "One link for one person: the name, the worker’s id, the link.";

export class Invitations {
  constructor(place) {
    this.select = el("select", { id: "invite-campaign", required: true });
    this.number = el("input", {
      id: "invite-count",
      type: "number",
      min: "1",
      max: "1000",
      step: "1",
      value: "5",
      required: true,
    });
    this.who = el(
      "select",
      { id: "invite-who" },
      el("option", { value: "anybody" }, "Anybody"),
      el("option", { value: "names" }, "People by name"),
    );
    this.names = el("textarea", {
      id: "invite-names",
      rows: "4",
      spellcheck: "false",
      autocomplete: "off",
      "aria-describedby": "invite-names-help",
    });
    this.button = el("button", { type: "submit", class: "button primary" }, "Make links");
    this.result = el("div", { class: "m-links" });
    this.none = el(
      "div",
      { class: "m-empty" },
      el("p", {}, "No campaign is running. Plan one above, then invite workers to it."),
    );
    const field = (input, label, kind = "", help = null) =>
      el("div", { class: `field ${kind}` }, el("label", { for: input.id }, label), help, input);
    const help = el(
      "p",
      { class: "m-help", id: "invite-names-help" },
      "Names or addresses, one a line. Whoever is invited again gets the same link, and is one worker in all campaigns.",
    );
    const many = field(this.number, "How many", "m-field-short");
    const names = field(this.names, "Names", "m-field-wide", help);
    const adapt = () => {
      many.hidden = this.number.disabled = this.#byName;
      names.hidden = this.names.disabled = !this.#byName;
    };
    this.names.required = true;
    this.form = el(
      "form",
      { class: "m-row", hidden: true },
      field(this.select, "Campaign"),
      field(this.who, "For"),
      many,
      names,
      this.button,
    );
    this.who.addEventListener("change", adapt);
    adapt();
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      busy(this.button, () => this.#make());
    });
    put(place, this.none, this.form, this.result);
  }

  get #byName() {
    return this.who.value === "names";
  }

  update(study) {
    const open = study.campaigns.filter((campaign) => campaign.state !== "closed");
    const shown = JSON.stringify(open.map((campaign) => [campaign.name, campaign.state]));
    this.none.hidden = open.length > 0;
    this.form.hidden = !open.length;
    if (shown === this.shown) return;
    this.shown = shown;
    const chosen = this.select.value;
    const label = ({ name, state }) => (state === "running" ? name : `${name} (${state})`);
    put(
      this.select,
      open.map((c) => el("option", { value: c.name, selected: c.name === chosen }, label(c))),
    );
  }

  async #make() {
    const campaign = this.select.value;
    try {
      const whom = this.#byName ? { people: this.names.value.split("\n") } : { count: this.number.valueAsNumber };
      const { links, people } = await post("/api/manage/invitations", { campaign, ...whom });
      this.#show(campaign, people.length ? people.map((one) => [one.name, one.worker, one.link].join("\t")) : links);
    } catch (error) {
      put(this.result, errorBox(error, "No links were made"));
    }
  }

  #show(campaign, links) {
    const text = links.join("\n");
    const box = el("textarea", {
      id: "invite-links",
      class: "m-code",
      readonly: true,
      rows: String(Math.min(Math.max(links.length, 2), 8)),
      spellcheck: "false",
      wrap: "off",
    });
    box.value = text;
    box.addEventListener("focus", () => {
      box.select();
      box.scrollLeft = 0;
    });
    const copy = el("button", { type: "button", class: "button" }, "Copy all");
    copy.addEventListener("click", async () => {
      box.select();
      const copied = await navigator.clipboard?.writeText(text).then(
        () => true,
        () => false,
      );
      say(copied || document.execCommand("copy") ? "Links copied." : "Select the links and copy them by hand.");
    });
    const save = el("button", { type: "button", class: "button" }, "Download as text");
    save.addEventListener("click", () => download(`invitations-${campaign}.txt`, `${text}\n`));
    put(
      this.result,
      el("label", { for: "invite-links" }, `${plural(links.length, "link")} for ${campaign}`),
      el("p", { class: "m-help" }, this.#byName ? NAMED : UNNAMED),
      box,
      el("div", { class: "actions" }, copy, save),
    );
    box.focus();
    say(`${plural(links.length, "link")} made.`);
  }
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
