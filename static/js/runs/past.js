// The event log of a run that is over, fetched once somebody opens it.

import { EventLog } from "./log.js";

async function load(details) {
  const log = new EventLog(details.querySelector("[data-past-log]"));
  let page = { last: 0, is_more: true };
  while (page.is_more) {
    const answer = await fetch(`${details.dataset.events}?after=${page.last}`);
    page = await answer.json();
    log.take(page.events);
  }
}

for (const details of document.querySelectorAll("details[data-events]")) {
  details.addEventListener("toggle", () => load(details), { once: true });
}
