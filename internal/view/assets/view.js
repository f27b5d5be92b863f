// SPDX-License-Identifier: Apache-2.0
// Keeps the page of a running experiment current: asks for its state and replaces
// the parts that are others. Without this script the page loads itself anew.
"use strict";

(() => {
  const every = 2000;
  const silence = document.getElementById("silent");
  const headline = document.getElementById("headline");
  let tag = document.body.dataset.tag;
  let heard = new Date();
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

  const tellTimes = () => {
    for (const time of document.querySelectorAll("main time")) {
      time.dataset.said ??= time.textContent;
      const seconds = (new Date(time.dateTime) - Date.now()) / 1000;
      const said = `${time.dataset.said} (${seconds > 0 ? "in " + distance(seconds) : distance(-seconds) + " ago"})`;
      if (time.textContent !== said) time.textContent = said;
    }
  };

  // ---- Parts --------------------------------------------------------------------

  const focusable = "a[href],[tabindex]";

  // replace a part; what had the focus, and where it was scrolled to, stays.
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

  const take = (state) => {
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
    tellTimes();
  };

  // ---- Asking -------------------------------------------------------------------

  // tell that nobody answers; what is shown stays, with its time.
  const tellSilence = () => {
    if (silence.firstChild) return;
    const notice = document.createElement("aside");
    notice.className = "banner notice";
    notice.setAttribute("role", "alert");
    notice.textContent = `Nobody serves this page any more since ${heard.toLocaleTimeString()}: what is shown is of then. It goes on by itself when it is served again.`;
    silence.append(notice);
  };

  const ask = async () => {
    const answer = await fetch("state", { headers: { "If-None-Match": tag }, cache: "no-store" });
    if (answer.status !== 200 && answer.status !== 304) throw new Error(answer.statusText);
    heard = new Date();
    silence.replaceChildren();
    if (answer.status === 304) return;
    const state = await answer.json();
    tag = answer.headers.get("ETag");
    take(state);
  };

  const goOn = async () => {
    if (!document.hidden) await ask().catch(tellSilence);
    if (!ended) setTimeout(goOn, every);
  };

  tellTimes();
  setInterval(tellTimes, 1000);
  setTimeout(goOn, every);
})();
