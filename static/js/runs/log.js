// The event log in sentences, newest first.

import { make } from "./dom.js";
import { level, seconds, sentence } from "./words.js";

const KEPT = 300;

export class EventLog {
  constructor(list) {
    this.list = list;
  }

  take(events) {
    for (const event of events) {
      const text = sentence(event);
      if (!text) continue;
      const line = make("li", `log-${level(event)}`);
      line.append(make("time", "mono", seconds(event.t_ms / 1000)), make("span", "", text));
      this.list.prepend(line);
    }
    while (this.list.children.length > KEPT) this.list.lastElementChild.remove();
  }
}
