// Draws the figures that the server built, in the colours of the theme that is on.

/* global Plotly */
const CONFIG = { responsive: true, displayModeBar: false, doubleClick: "reset" };
const NARROW = 480; // px
const drawn = new Set();

/** The colour behind a name of the palette, such as var(--series-1). */
function resolver() {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const known = new Map();
  const resolve = (name) => {
    if (!known.has(name)) {
      probe.style.color = name;
      known.set(name, getComputedStyle(probe).color);
    }
    return known.get(name);
  };
  return { resolve, done: () => probe.remove() };
}

/** A copy with every colour name replaced. Lists of numbers are taken as they are. */
function coloured(value, resolve) {
  if (typeof value === "string") return value.startsWith("var(--") ? resolve(value) : value;
  if (Array.isArray(value)) {
    return typeof value[0] === "object" ? value.map((item) => coloured(item, resolve)) : value;
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, coloured(item, resolve)]),
  );
}

/** On a phone the legend goes below, and ticks need room. */
function fitted(layout, element) {
  layout.font.family = getComputedStyle(document.body).fontFamily;
  if (element.clientWidth >= NARROW) return layout;
  layout.legend = { ...layout.legend, y: -0.2, yanchor: "top" };
  layout.margin = { ...layout.margin, l: 44, r: 8 };
  layout.font.size = 11;
  layout.height += 60;
  layout.xaxis.nticks = 5;
  return layout;
}

function show(element) {
  const source = document.getElementById(element.dataset.chart);
  const figure = JSON.parse(source.textContent);
  const { resolve, done } = resolver();
  const { data, layout } = coloured(figure, resolve);
  done();
  Plotly.react(element, data, fitted(layout, element), CONFIG);
  drawn.add(element);
}

/** Draw every chart below `root`. */
export function draw(root = document) {
  for (const element of root.querySelectorAll("[data-chart]")) show(element);
}

document.addEventListener("themechange", () => {
  for (const element of drawn) element.isConnected ? show(element) : drawn.delete(element);
});
document.addEventListener("htmx:afterSwap", (event) => draw(event.target));
draw();
