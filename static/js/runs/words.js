// Figures and events as people read them. The same rules as the server's templates.

const THIN = "\u202f";

export const OUTCOMES = {
  clean_pass: ["circle-check", "Clean pass"],
  degraded: ["warning", "Degraded"],
  inconclusive: ["unsure", "Inconclusive"],
  fail: ["circle-x", "Fail"],
  queued: ["waiting", "Queued"],
  running: ["runs", "Running"],
};
export const SEVERITY = ["clean_pass", "degraded", "inconclusive", "fail"];

export function ms(value) {
  if (value < 1000) return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)}${THIN}ms`;
  return seconds(value / 1000);
}

export function seconds(value) {
  if (value < 60) return `${value.toFixed(1)}${THIN}s`;
  const whole = Math.round(value);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours) return `${hours}${THIN}h ${minutes}${THIN}min`;
  return `${minutes}${THIN}min ${whole % 60}${THIN}s`;
}

export function bytes(value) {
  const gib = value / 1024 ** 3;
  return gib < 0.1 ? `${(value / 1024 ** 2).toFixed(0)}${THIN}MiB` : `${gib.toFixed(2)}${THIN}GiB`;
}

export function rate(value, unit) {
  return `${value.toFixed(value < 100 ? 1 : 0)}${THIN}${unit}`;
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const word = (outcome) => (OUTCOMES[outcome]?.[1] ?? "no outcome").toLowerCase();
const name = (request) => `Request ${request + 1}`;

const SENTENCES = {
  "run.started": (p) => `Begun: ${plural(p.requests ?? 0, "request")} planned.`,
  "check.started": (p) => `${p.title}: begun.`,
  "request.phase": (p) => PHASES[p.phase]?.(name(p.request)),
  "request.finished": (p) => finished(p),
  "check.finished": (p) => `${p.result?.title ?? "Check"}: ${word(p.result?.outcome)}.`,
  "guard.tripped": (p) => `Memory guard: ${p.sentence}`,
  note: (p) => p.text,
  "run.finished": (p) => `Over: ${word(p.outcome)}. ${p.explanation ?? ""}`,
};
const PHASES = {
  connecting: (who) => `${who}: connecting.`,
  prefill: (who) => `${who}: sent, waiting for the first token.`,
  decode: (who) => `${who}: the first token is here.`,
};

function finished({ request, result }) {
  const ttft = result.ttft_ms == null ? "" : `, TTFT ${ms(result.ttft_ms)}`;
  const why = result.outcome === "clean_pass" ? "" : ` ${result.explanation}`;
  return `${name(request)}: ${word(result.outcome)}${ttft}.${why}`;
}

/** A sentence for the log, or nothing where an event only moves a picture. */
export const sentence = (event) => SENTENCES[event.kind]?.(event.payload);

export function level(event) {
  if (event.kind === "note") return event.payload.level ?? "info";
  const outcome = event.payload.result?.outcome ?? event.payload.outcome;
  return { fail: "error", degraded: "warning", inconclusive: "warning" }[outcome] ?? "info";
}
