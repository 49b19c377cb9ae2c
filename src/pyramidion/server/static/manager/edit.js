// @ts-check
// /manage/campaigns/NAME/edit: everything about a draft, and what may still change about a campaign that has begun.

import { get, path } from "../shared/api.js";
import { byId, put, setText } from "../shared/dom.js";
import { errorBox } from "../shared/messages.js";
import { PlanForm } from "./plan.js";
import { kindPill, KINDS, statePill } from "./words.js";

const BEGUN = "People have begun with this campaign: only what neither tasks nor answers depend on can change.";
const DRAFT = "This is a draft: everything can change until you open it. Saving makes its tasks anew.";

async function start() {
  const { campaign = "" } = byId("main").dataset;
  const place = byId("edit-panel");
  const loaded = () =>
    Promise.all([get("/api/manage"), get("/api/manage/form"), get(path`/api/manage/campaigns/${campaign}/design`)]);
  try {
    const [study, offers, held] = await loaded();
    put(byId("badges"), kindPill(held.kind), statePill(held.draft ? "draft" : held.state));
    setText(byId("kind-line"), KINDS[held.kind].line);
    setText(byId("edit-lead"), held.draft ? DRAFT : BEGUN);
    new PlanForm(place, study, offers, { held, onStarted: () => {} });
  } catch (error) {
    put(place, errorBox(error, "The campaign could not be read"));
  }
}

start();
