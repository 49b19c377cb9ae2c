// Links that let people join a campaign: made once, then copied or downloaded.

import { errorBox, post } from "./manager-api.js";
import { busy, el, plural, put } from "./manager-dom.js";
import { say } from "./manager-live.js";

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
    this.button = el("button", { type: "submit", class: "button primary" }, "Make links");
    this.result = el("div", { class: "m-links" });
    this.none = el(
      "div",
      { class: "m-empty" },
      el("p", {}, "No campaign is running. Plan one above, then invite workers to it."),
    );
    this.form = el(
      "form",
      { class: "m-row", hidden: true },
      el("div", { class: "field" }, el("label", { for: "invite-campaign" }, "Campaign"), this.select),
      el("div", { class: "field m-field-short" }, el("label", { for: "invite-count" }, "How many"), this.number),
      this.button,
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      busy(this.button, () => this.#make());
    });
    put(place, this.none, this.form, this.result);
  }

  update(study) {
    const open = study.campaigns.filter((campaign) => campaign.state !== "closed");
    const names = JSON.stringify(open.map((campaign) => [campaign.name, campaign.state]));
    this.none.hidden = open.length > 0;
    this.form.hidden = !open.length;
    if (names === this.names) return;
    this.names = names;
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
      const { links } = await post("/api/manage/invitations", { campaign, count: this.number.valueAsNumber });
      this.#show(campaign, links);
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
      el("p", { class: "m-help" }, "One link for one person. Save them now: they are not shown again."),
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
