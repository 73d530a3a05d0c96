// Live parts of a page, questions before dangerous actions, and boxes that tick all others.
"use strict";

const live = document.getElementById("live");
if (live && live.dataset.stream && window.EventSource) {
  let source = null;
  const begin = () => {
    if (source || document.hidden) return;
    source = new EventSource(live.dataset.stream);
    source.addEventListener("live", (event) => {
      const focused = live.contains(document.activeElement) ? document.activeElement : null;
      // Who is typing or choosing something here is not disturbed.
      if (focused && !focused.matches("a[href]")) return;
      const alike = () => [...live.querySelectorAll("a[href]")].filter((each) => each.href === focused.href);
      const place = focused ? alike().indexOf(focused) : -1;
      live.innerHTML = JSON.parse(event.data).html;
      // Who walks with the keyboard goes on from the same link.
      if (focused) alike().at(place)?.focus({ preventScroll: true });
    });
    source.addEventListener("error", () => live.classList.add("away"));
    source.addEventListener("open", () => live.classList.remove("away"));
  };
  const end = () => { if (source) { source.close(); source = null; } };
  document.addEventListener("visibilitychange", () => (document.hidden ? end() : begin()));
  window.addEventListener("pagehide", end);
  begin();
}

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  const question = (button && button.dataset.confirm) || event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

document.addEventListener("change", (event) => {
  const name = event.target.dataset && event.target.dataset.all;
  if (!name) return;
  for (const box of document.querySelectorAll(`input[type=checkbox][name="${name}"]`)) {
    box.checked = event.target.checked;
  }
});
