// What a run looks like after the events so far. Replaying the log gives the same picture.

import { SEVERITY } from "./words.js";

export class RunModel {
  requests = new Map();
  memory = [];
  planned = 0;
  done = 0;
  worst = null;
  #elapsed = null; // [run's ms, page's ms] when the server last said how long it runs

  take(page) {
    if (page.elapsed_ms !== null) this.#elapsed = [page.elapsed_ms, performance.now()];
    for (const event of page.events) this.#apply(event);
  }

  /** Milliseconds since the run started, now. */
  get now() {
    return this.#elapsed && this.#elapsed[0] + performance.now() - this.#elapsed[1];
  }

  #apply({ kind, payload, t_ms }) {
    if (kind === "run.started") this.planned = payload.requests ?? this.planned;
    else if (kind === "memory.sample") this.#sample(payload, t_ms);
    else if (kind.startsWith("request.")) this.#applyToRequest(kind, payload, t_ms);
  }

  /** `figure` names what tells best on the server's host: RSS misses Metal memory. */
  #sample(payload, t_ms) {
    const figure = payload.figure ?? "rss_bytes";
    const bytes = payload[figure];
    if (bytes == null) return;
    this.memory.push({ bytes, figure, t_ms });
    if (this.memory.length > 600) this.memory = this.memory.filter((_, i) => i % 2);
  }

  #applyToRequest(kind, payload, t_ms) {
    const request = this.#request(payload.request, t_ms);
    if (kind === "request.queued") Object.assign(request, payload, { queuedAt: t_ms });
    else if (kind === "request.phase") this.#phase(request, payload.phase, t_ms);
    else if (kind === "request.progress") request.progress = payload;
    else if (kind === "request.finished") {
      this.#phase(request, "done", t_ms);
      if (!request.result) this.done += 1;
      request.result = payload.result;
      const rank = Math.max(SEVERITY.indexOf(this.worst), SEVERITY.indexOf(payload.result.outcome));
      this.worst = SEVERITY[rank] ?? null;
    }
  }

  #request(number, t_ms) {
    if (!this.requests.has(number)) {
      this.requests.set(number, { number, label: "", phase: "queued", phases: [], queuedAt: t_ms });
    }
    return this.requests.get(number);
  }

  #phase(request, phase, t_ms) {
    request.phase = phase;
    if (!request.phases.some((known) => known.phase === phase)) request.phases.push({ phase, t_ms });
  }
}

/** When a phase began, in ms since the run started. */
export const began = (request, phase) =>
  request.phases.find((known) => known.phase === phase)?.t_ms;
