"use strict";
// The words stand in the page, in its language.
const shown = document.querySelector(".health");
const show = (state, more) => {
  shown.className = "health " + state;
  shown.textContent = [shown.dataset[state], more].filter(Boolean).join(" ");
};
fetch("/api/v1/health").then((response) => response.json()).then((health) => {
  const failing = Object.entries(health.checks).filter(([, said]) => said !== "ok").map(([name, said]) => name + ": " + said);
  show(health.status, failing.join(", ") || health.version);
}).catch(() => show("silent"));
