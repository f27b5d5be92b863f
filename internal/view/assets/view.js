// SPDX-License-Identifier: Apache-2.0
// Keeps the page of a running experiment current: requests its state and replaces
// the parts that changed. Without this script the page reloads itself.
"use strict";

(() => {
  const every = 2000;
  const offline = document.getElementById("offline");
  const headline = document.getElementById("headline");
  let tag = document.body.dataset.tag;
  let lastResponse = new Date();
  let ended = false;

  // ---- Times --------------------------------------------------------------------

  const spans = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

  // distance in two units at most: "1 h 20 min".
  const distance = (seconds) => {
    const at = Math.max(0, spans.findIndex(([length]) => seconds >= length));
    const [length, unit] = seconds < 1 ? [1, "s"] : spans[at];
    const whole = Math.floor(seconds / length);
    const [lower, smaller] = spans[at + 1] ?? [0, ""];
    const rest = lower && whole < 10 && length > 60 ? Math.floor((seconds % length) / lower) : 0;
    return rest ? `${whole} ${unit} ${rest} ${smaller}` : `${whole} ${unit}`;
  };

  const updateTimes = () => {
    for (const time of document.querySelectorAll("main time")) {
      time.dataset.text ??= time.textContent;
      const seconds = (new Date(time.dateTime) - Date.now()) / 1000;
      const text = `${time.dataset.text} (${seconds > 0 ? "in " + distance(seconds) : distance(-seconds) + " ago"})`;
      if (time.textContent !== text) time.textContent = text;
    }
  };

  // ---- Parts --------------------------------------------------------------------

  const focusable = "a[href],[tabindex]";

  // replace a part and keep its focus and scroll positions.
  const replace = (element, part) => {
    const places = [...element.querySelectorAll(focusable)];
    const focus = places.indexOf(document.activeElement);
    const scrolled = places.map((one) => one.scrollLeft);
    element.innerHTML = part.html;
    element.dataset.digest = part.digest;
    const now = [...element.querySelectorAll(focusable)];
    now.forEach((one, at) => { one.scrollLeft = scrolled[at] ?? 0; });
    if (focus >= 0) now[focus]?.focus({ preventScroll: true });
  };

  const update = (state) => {
    if (state.complete && !("complete" in document.body.dataset)) {
      location.reload();
      return;
    }
    ended = state.ended;
    document.title = state.title;
    const title = document.querySelector("h1");
    if (title.textContent !== state.title) title.textContent = state.title;
    if (headline.textContent !== state.headline) headline.textContent = state.headline;
    for (const [name, part] of Object.entries(state.parts)) {
      const element = document.getElementById(`part-${name}`);
      if (element && element.dataset.digest !== part.digest) replace(element, part);
    }
    updateTimes();
  };

  // ---- Polling ------------------------------------------------------------------

  // showOffline warns that the server does not respond. The page keeps its last state.
  const showOffline = () => {
    if (offline.firstChild) return;
    const notice = document.createElement("aside");
    notice.className = "banner notice";
    notice.setAttribute("role", "alert");
    notice.textContent = `The server has not responded since ${lastResponse.toLocaleTimeString()}. This page shows the state at that time, and updates when the server responds again.`;
    offline.append(notice);
  };

  const poll = async () => {
    const answer = await fetch("state", { headers: { "If-None-Match": tag }, cache: "no-store" });
    if (answer.status !== 200 && answer.status !== 304) throw new Error(answer.statusText);
    lastResponse = new Date();
    offline.replaceChildren();
    if (answer.status === 304) return;
    const state = await answer.json();
    tag = answer.headers.get("ETag");
    update(state);
  };

  const pollAgain = async () => {
    if (!document.hidden) await poll().catch(showOffline);
    if (!ended) setTimeout(pollAgain, every);
  };

  updateTimes();
  setInterval(updateTimes, 1000);
  setTimeout(pollAgain, every);
})();
