// A run while it goes on. Everything shown comes from its log, so a reload loses nothing.

import { mark, setText } from "./runs/dom.js";
import { Follower } from "./runs/follow.js";
import { Lanes } from "./runs/lanes.js";
import { EventLog } from "./runs/log.js";
import { RunModel } from "./runs/model.js";
import { bytes, OUTCOMES, plural, seconds } from "./runs/words.js";

const REDRAW_MS = 100;
const LAST_LOOK_MS = 700; // the end is seen before the result replaces this page
const root = document.getElementById("live");
const part = (name) => document.querySelector(`[data-live="${name}"]`);

const model = new RunModel();
const lanes = new Lanes(part("lanes"), `/runs/${root.dataset.run}/requests/`);
const log = new EventLog(part("log"));
model.planned = Number(root.dataset.planned);
let status = null;

function drawProgress() {
  const bar = part("progress");
  bar.max = Math.max(model.planned, model.done, 1);
  bar.value = model.done;
  bar.textContent = `${model.done} of ${model.planned}`;
  setText(part("done"), String(model.done));
  setText(part("planned"), String(model.planned));
  if (model.worst) {
    const shown = part("so-far");
    if (shown.dataset.outcome !== model.worst) {
      shown.dataset.outcome = model.worst;
      shown.replaceChildren(mark(model.worst, OUTCOMES[model.worst]));
    }
  }
}

function drawTimes() {
  const now = model.now;
  if (now === null) return;
  setText(part("elapsed"), seconds(now / 1000));
  const typical = Number(root.dataset.typicalS);
  if (typical) {
    const left = typical - now / 1000;
    setText(part("left"), left > 0 ? `about ${seconds(left)}` : "longer than before");
    setText(part("left-source"), root.dataset.estimateSource);
  } else if (model.done && model.planned > model.done) {
    const left = (now / 1000 / model.done) * (model.planned - model.done);
    setText(part("left"), `about ${seconds(left)}`);
    setText(part("left-source"), `from ${plural(model.done, "request")} so far`);
  }
}

function drawMemory() {
  const last = model.memory.at(-1);
  if (!last) return;
  setText(part("memory"), bytes(last.rss_bytes));
  const free = last.system_available_bytes;
  const rest = free ? ` ${bytes(free)} available on the host.` : "";
  const processes = last.processes > 1 ? `${last.processes} server processes` : "the server process";
  const of = `RSS of ${processes}.`;
  setText(part("memory-note"), of + rest);
  const span = Math.max(last.t_ms - model.memory[0].t_ms, 1);
  const top = 1.1 * Math.max(...model.memory.map((sample) => sample.rss_bytes));
  const points = model.memory.map((sample) => {
    const x = (100 * (sample.t_ms - model.memory[0].t_ms)) / span;
    return `${x.toFixed(2)},${(100 - (100 * sample.rss_bytes) / top).toFixed(2)}`;
  });
  part("memory-line").setAttribute("points", points.join(" "));
}

function drawStatus() {
  if (!status) return;
  const badge = part("state");
  if (badge.dataset.state !== status.state && OUTCOMES[status.state]) {
    badge.dataset.state = status.state;
    badge.replaceChildren(mark(status.state, OUTCOMES[status.state]));
  }
  setText(part("sentence"), status.sentence);
  setText(part("no-lanes-text"), status.sentence);
  part("no-lanes").hidden = model.requests.size > 0;
  part("stalled").hidden = !status.is_stalled;
  setText(part("stalled").querySelector("span"), status.is_stalled ? status.sentence : "");
  if (status.is_cancelling) showStopping();
}

function draw() {
  lanes.draw(model);
  drawProgress();
  drawTimes();
}

function showStopping() {
  const button = part("cancel");
  if (!button) return;
  button.disabled = true;
  setText(button.querySelector("span"), "Stopping");
}

part("cancel-form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  showStopping();
  const form = event.target;
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
  if (!answer.ok) form.submit();
});

new Follower({
  socketUrl: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${root.dataset.socket}`,
  eventsUrl: root.dataset.events,
  onPage(page) {
    status = page.status;
    model.take(page);
    log.take(page.events);
    draw();
    drawMemory();
    drawStatus();
    if (page.is_ended) setTimeout(() => location.reload(), LAST_LOOK_MS);
  },
  onState(words) {
    setText(part("connection"), words);
    part("connection").dataset.state = words.replaceAll(" ", "-");
  },
}).start();

setInterval(draw, REDRAW_MS);
