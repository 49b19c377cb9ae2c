// The managers' pages. Which one this is stands in <main data-page>.

import { startCampaign } from "./manager-campaign.js";
import { startOverview } from "./manager-overview.js";

const main = document.querySelector("main");
if (main.dataset.page === "campaign") startCampaign(main);
if (main.dataset.page === "overview") startOverview(main);
