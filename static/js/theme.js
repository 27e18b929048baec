// Loaded in the head, before anything is painted: no flash of the other theme.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choice = () => localStorage.getItem("theme") || "auto";
  const apply = () => {
    const theme = choice() === "auto" ? (dark.matches ? "dark" : "light") : choice();
    document.documentElement.dataset.bsTheme = theme;
    document.documentElement.dataset.themeChoice = choice();
    document.dispatchEvent(new CustomEvent("themechange", { detail: theme }));
  };
  dark.addEventListener("change", apply);
  addEventListener("storage", apply);
  window.cleanpassTheme = { choice, set: (value) => { localStorage.setItem("theme", value); apply(); } };
  apply();
})();
