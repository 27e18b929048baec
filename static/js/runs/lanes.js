// One lane a request: its phase, its TTFT ticking while it waits, its place on the run's clock.

import { icon, make, makeSvg, mark, setText } from "./dom.js";
import { began } from "./model.js";
import { ms, OUTCOMES, plural, rate } from "./words.js";

const ORDER = ["connecting", "prefill", "decode", "done"];
const PHASE_WORDS = { whole: "waiting" };

export class Lanes {
  #lanes = new Map();

  constructor(list, requestUrl) {
    this.list = list;
    this.requestUrl = requestUrl;
  }

  draw(model) {
    const now = model.now ?? 0;
    for (const request of model.requests.values()) {
      const lane = this.#lanes.get(request.number) ?? this.#add(request);
      this.#draw(lane, request, now);
    }
  }

  #add(request) {
    const lane = { row: make("li", "lane"), bars: {} };
    lane.title = make("a", "lane-title");
    lane.about = make("span", "lane-about soft small");
    lane.phase = make("span", "lane-phase");
    lane.ttft = make("span", "lane-figure");
    lane.speed = make("span", "lane-figure");
    lane.text = make("p", "lane-text");
    lane.track = makeSvg("svg", { class: "lane-track", "aria-hidden": "true" });
    for (const phase of ORDER.slice(0, 3)) {
      const kind = request.streamed === false && phase === "prefill" ? "whole" : phase;
      lane.bars[phase] = makeSvg("rect", { class: `phase-${kind}`, y: "0", height: "100%", width: "0" });
      lane.track.append(lane.bars[phase]);
    }
    const head = make("div", "lane-name");
    head.append(lane.title, lane.about);
    lane.row.append(head, lane.phase, lane.ttft, lane.speed, lane.track, lane.text);
    this.list.append(lane.row);
    this.#lanes.set(request.number, lane);
    return lane;
  }

  #draw(lane, request, now) {
    if (!lane.done) {
      setText(lane.title, title(request));
      setText(lane.about, about(request));
      setText(lane.ttft, ttft(request, now));
      setText(lane.speed, speed(request, now));
      setText(lane.text, request.result?.text ?? request.progress?.text ?? "");
      this.#drawPhase(lane, request);
      lane.done = Boolean(request.result);
    }
    drawTrack(lane, request, now);
  }

  #drawPhase(lane, request) {
    if (request.result) {
      const { outcome, explanation } = request.result;
      lane.phase.replaceChildren(mark(outcome, OUTCOMES[outcome]));
      lane.phase.className = "lane-phase";
      lane.title.href = `${this.requestUrl}${request.number}/`;
      if (outcome !== "clean_pass") {
        const why = make("span", "lane-why");
        why.append(icon("info"), explanation);
        lane.text.before(why);
      }
    } else {
      const phase = request.streamed === false && request.phase === "prefill" ? "whole" : request.phase;
      setText(lane.phase, PHASE_WORDS[phase] ?? phase);
      lane.phase.className = `lane-phase chip phase-${phase}`;
    }
  }
}

function title(request) {
  const label = request.label || request.key || "request";
  return `${request.number + 1}. ${label[0].toUpperCase()}${label.slice(1)}`;
}

function about(request) {
  const cache = { fresh: "fresh", repeat: "exact repeat" }[request.cache] ?? "";
  const clients = request.client_concurrency > 1 ? `${request.client_concurrency} clients` : "";
  return [request.streamed === false ? "not streamed" : "", cache, clients].filter(Boolean).join(" · ");
}

function ttft(request, now) {
  if (request.streamed === false) return whole(request, now);
  const known = request.result ? request.result.ttft_ms : request.progress?.ttft_ms;
  if (known != null) return `TTFT ${ms(known)}`;
  if (request.result) return "no token";
  const sent = began(request, "prefill");
  return sent === undefined ? "" : `TTFT ${ms(Math.max(0, now - sent))} …`;
}

/** Without a stream there is no first token to see: only the whole answer is timed. */
function whole(request, now) {
  if (request.result) return request.result.end_ms == null ? "" : `total ${ms(request.result.end_ms)}`;
  const sent = began(request, "prefill");
  return sent === undefined ? "" : `waiting ${ms(Math.max(0, now - sent))} …`;
}

function speed(request, now) {
  const { result, progress } = request;
  if (result) {
    const count = result.completion_tokens;
    const tokens = count == null ? plural(result.chunks ?? 0, "chunk") : plural(count, "token");
    return result.decode_tps == null ? tokens : `${tokens} · ${rate(result.decode_tps, "tok/s")}`;
  }
  if (!progress?.chunks) return "";
  const since = (now - (began(request, "decode") ?? now)) / 1000;
  const chunks = plural(progress.chunks, "chunk");
  return since > 0.5 ? `${chunks} · ${rate((progress.chunks - 1) / since, "chunks/s")}` : chunks;
}

/** All lanes share the run's clock: zero at the left, now at the right. */
function drawTrack(lane, request, now) {
  const end = began(request, "done") ?? now;
  for (const [place, phase] of ORDER.slice(0, 3).entries()) {
    const start = began(request, phase);
    if (start === undefined || now <= 0) continue;
    const following = ORDER.slice(place + 1).map((next) => began(request, next));
    const stop = following.find((at) => at !== undefined) ?? end;
    lane.bars[phase].setAttribute("x", `${(100 * start) / now}%`);
    lane.bars[phase].setAttribute("width", `${Math.max(0, (100 * (stop - start)) / now)}%`);
  }
}
