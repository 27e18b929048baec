// What every page shares: theme button, menus, times in the viewer's zone, keys.

const THEMES = { auto: "light", light: "dark", dark: "auto" };
const ICONS = { auto: "auto", light: "sun", dark: "moon" };

function showTheme(button) {
  const choice = window.cleanpassTheme.choice();
  button.querySelector("use").setAttribute("href", `#i-${ICONS[choice]}`);
  button.setAttribute("aria-label", `Theme: ${choice}. Change to ${THEMES[choice]}`);
  button.title = `Theme: ${choice}`;
}

for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  showTheme(button);
  button.addEventListener("click", () => {
    window.cleanpassTheme.set(THEMES[window.cleanpassTheme.choice()]);
    showTheme(button);
  });
}

const UNITS = [["d", 86400], ["h", 3600], ["min", 60]];

function age(seconds) {
  const found = UNITS.find(([, size]) => seconds >= size);
  return found ? `${Math.floor(seconds / found[1])}\u202f${found[0]} ago` : "just now";
}

/** The age as text; the viewer's own time and UTC on hover. */
export function showTimes(root = document) {
  for (const element of root.querySelectorAll("time[data-ago]")) {
    const moment = new Date(element.dateTime);
    const utc = moment.toISOString().slice(0, 19).replace("T", " ");
    element.title = `${moment.toLocaleString()} (${utc} UTC)`;
    element.textContent = age((Date.now() - moment.getTime()) / 1000);
  }
}

showTimes();
setInterval(showTimes, 30_000);
document.addEventListener("htmx:afterSwap", (event) => showTimes(event.target));

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  const row = event.target.closest("tr[data-href]");
  if (row && !event.target.closest("a, button, input, summary") && !getSelection().toString()) {
    location.assign(row.dataset.href);
  }
});

document.addEventListener("submit", (event) => {
  const { busy } = event.target.dataset;
  const button = event.submitter;
  if (!busy || !button) return;
  const words = button.innerHTML;
  button.textContent = `${busy}…`;
  button.setAttribute("aria-busy", "true");
  // Disabled only after the form is on its way; enabled again for who comes back to the page.
  setTimeout(() => { button.disabled = true; });
  addEventListener("pageshow", () => { button.innerHTML = words; button.disabled = false; });
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const menu = document.querySelector("details[data-menu][open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    document.querySelector("[data-shortcut='/']")?.focus();
  }
});
