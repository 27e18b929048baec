// Small helpers. Text always enters as text: what a model says never becomes markup.

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

export function makeSvg(tag, attributes = {}) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function icon(name) {
  const svg = makeSvg("svg", { class: "icon", "aria-hidden": "true" });
  svg.append(makeSvg("use", { href: `#i-${name}` }));
  return svg;
}

export function mark(key, [shape, word]) {
  const badge = make("span", `mark outcome-${key}`);
  badge.append(icon(shape), word);
  return badge;
}

/** Only what changed is written, so that selections and screen readers are left in peace. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
