"""The crowd: plan a campaign, give out tasks, collect answers, watch quality and cost, pay."""
