// The plan follows the choice of suite and layer at once.
for (const form of document.querySelectorAll("form[data-submit-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
  for (const part of form.querySelectorAll("[data-needs-no-script]")) part.hidden = true;
}
