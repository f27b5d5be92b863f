// SPDX-License-Identifier: Apache-2.0
// Makes the page of a report interactive: charts show values, arms can be hidden, tables sort and
// filter, explanations fold. The page is complete without this script.
"use strict";

(() => {
  const all = (selector, under = document) => [...under.querySelectorAll(selector)];

  // make creates an element with properties and children.
  const make = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };

  const arms = JSON.parse(document.getElementById("arms").textContent);
  const hidden = new Set();
  const charts = [];
  // zoomed is the part of the run that charts over time show, in minutes; null is all of it.
  let zoomed = null;

  // ---- Folding ------------------------------------------------------------------

  const folds = all(".folds > details");

  // unfold opens the target of a link, and everything around it.
  const unfold = (target) => {
    const own = target.matches(".folds") ? target.querySelector(":scope > details") : null;
    for (let at = own ?? target; at; at = at.parentElement) {
      if (at.matches("details")) at.open = true;
    }
  };

  const followAddress = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    unfold(target);
    target.scrollIntoView();
  };

  const startFolding = () => {
    for (const fold of folds) {
      fold.open = false;
      fold.classList.add("ready");
      const rows = all("tbody tr", fold).length;
      const table = fold.parentElement.matches(".part");
      if (table) fold.querySelector("summary").append(make("span", { className: "count" }, rows === 1 ? "1 row" : `${rows} rows`));
    }
    addEventListener("hashchange", followAddress);
    // A link to the current address does not change the address.
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (link && link.hash === location.hash) followAddress();
    });
    if (location.hash) followAddress();
  };

  const unfoldButton = () => {
    const button = make("button", { type: "button", className: "plain" }, "Expand all");
    button.addEventListener("click", () => {
      const open = folds.some((fold) => !fold.open);
      for (const fold of folds) fold.open = open;
      button.textContent = open ? "Collapse all" : "Expand all";
    });
    return button;
  };

  // Print shows everything.
  const startPrinting = () => {
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = folds.filter((fold) => !fold.open);
      for (const fold of closed) fold.open = true;
    });
    addEventListener("afterprint", () => {
      for (const fold of closed) fold.open = false;
    });
  };

  // ---- Arms ---------------------------------------------------------------------

  // swatch is a sample of an arm's line.
  const swatch = (arm) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", "M0 2H22");
    line.setAttribute("stroke-dasharray", (arms[arm].dash ?? []).join(" "));
    made.setAttribute("viewBox", "0 0 22 4");
    made.setAttribute("class", "swatch");
    made.setAttribute("aria-hidden", "true");
    made.style.setProperty("--of", `var(--${arms[arm].color})`);
    made.append(line);
    return made;
  };

  const showArms = () => {
    for (const one of all("[data-arm]")) {
      const off = hidden.has(Number(one.dataset.arm));
      one.classList.toggle("off", off);
      // Only its header names a column.
      if (one.matches("thead th")) for (const row of one.closest("table").tBodies[0].rows) row.cells[one.cellIndex].classList.toggle("off", off);
    }
    for (const chart of charts) chart.showArms();
  };

  const armButton = (arm) => {
    const button = make("button", { type: "button", "aria-pressed": "true" }, swatch(arm), make("span", {}, arms[arm].name));
    button.addEventListener("click", () => {
      if (!hidden.delete(arm)) hidden.add(arm);
      button.setAttribute("aria-pressed", String(!hidden.has(arm)));
      showArms();
    });
    return button;
  };

  const toolbar = () => {
    const bar = make("aside", { className: "tools", "aria-label": "View options" });
    if (arms.length > 1) {
      const group = make("div", { className: "arms", role: "group", "aria-label": "Visible arms" });
      group.append(...arms.map((_, arm) => armButton(arm)));
      bar.append(group);
    }
    if (folds.length > 0) bar.append(unfoldButton());
    return bar;
  };

  // ---- Tables -------------------------------------------------------------------

  // rank is the first number in a cell's text, or null; times are in seconds.
  const rank = (text) => {
    const clock = text.match(/^(\d+):(\d\d):(\d\d)$/);
    if (clock) return Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]);
    const number = text.replace(/\u2212/g, "-").match(/[-+]?\d+(\.\d+)?/);
    return number ? Number(number[0]) : null;
  };

  const words = new Intl.Collator("en", { numeric: true });

  // compare orders two texts of a column; missing numbers come last in both directions.
  const compare = (numbers, direction) => (one, other) => {
    if (!numbers) return direction * words.compare(one, other);
    const [a, b] = [rank(one), rank(other)];
    if (a === null || b === null) return (a === null) - (b === null);
    return direction * (a - b);
  };

  const sortTable = (table, rows, column, numbers, direction) => {
    const text = new Map(rows.map((row) => [row, row.cells[column].textContent.trim()]));
    const by = compare(numbers, direction);
    const sorted = direction === 0 ? rows : [...rows].sort((one, other) => by(text.get(one), text.get(other)));
    table.classList.toggle("sorted", direction !== 0);
    table.tBodies[0].append(...sorted);
  };

  // directions are the states that clicks cycle through: ascending, descending, original order.
  const directions = { none: "ascending", ascending: "descending", descending: "none" };
  const signs = { none: 0, ascending: 1, descending: -1 };

  const makeSortable = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 3) return;
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, column) => {
      const button = make("button", { type: "button", className: "sort" }, ...header.childNodes);
      header.append(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = directions[header.getAttribute("aria-sort")];
        for (const other of headers) other.setAttribute("aria-sort", "none");
        header.setAttribute("aria-sort", next);
        sortTable(table, rows, column, header.matches(".n"), signs[next]);
      });
    });
  };

  const longTable = 12;

  const makeFilterable = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length <= longTable) return;
    const field = make("input", { type: "search", placeholder: "Filter rows", "aria-label": `Filter rows of: ${table.caption.textContent}` });
    const left = make("span", { className: "count", role: "status" });
    let texts;
    field.addEventListener("input", () => {
      texts ??= rows.map((row) => row.textContent.toLowerCase());
      const wanted = field.value.toLowerCase().split(/\s+/);
      let shown = 0;
      rows.forEach((row, at) => {
        const fits = wanted.every((word) => texts[at].includes(word));
        row.classList.toggle("out", !fits);
        if (fits) shown++;
      });
      left.textContent = field.value ? `${shown} of ${rows.length} rows` : "";
    });
    table.parentElement.before(make("div", { className: "filter" }, field, left));
  };

  // ---- Charts over time ---------------------------------------------------------

  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();

  const told = (value, unit) => {
    const digits = value === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
    return `${value.toFixed(Math.min(digits, 6))}${unit ? `\u00a0${unit}` : ""}`.replace(/^-/, "\u2212");
  };

  const timeOf = (minutes) => {
    const seconds = Math.round(minutes * 60);
    const [h, min, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return [h && `${h} h`, min && `${min} min`, (s || seconds === 0) && `${s} s`].filter(Boolean).join(" ");
  };

  // aligned joins lines with different times, as uPlot requires.
  const aligned = (lines) => uPlot.join(lines.map((line) => [line.minutes, line.values]));

  // nearest is the nearest index with a value; there is none beyond a line's ends.
  const nearest = (values, at) => {
    const before = values.findLastIndex((value, i) => i <= at && value != null);
    const after = values.findIndex((value, i) => i >= at && value != null);
    if (before < 0 || after < 0) return at;
    return at - before <= after - at ? before : after;
  };

  // eachBand draws each range in which something else ran, in pixels.
  const eachBand = (bands, draw) => (u) => {
    const { left, width } = u.bbox;
    u.ctx.save();
    for (const band of bands) {
      const from = Math.max(left, u.valToPos(band.from, "x", true));
      draw(u, band.name, from, Math.min(left + width, u.valToPos(band.to, "x", true)));
    }
    u.ctx.restore();
  };

  // on returns the names of the bands at a time, or near it.
  const on = (bands, at, near = 0) => (bands ?? []).filter((band) => band.from - near <= at && at <= band.to + near).map((band) => band.name);

  const shadeBand = (u, _, from, to) => {
    u.ctx.fillStyle = color("window");
    u.ctx.fillRect(from, u.bbox.top, to - from, u.bbox.height);
  };

  // headroom is the rows above the lines, so that text never overlaps a line: each arm's batches,
  // the names of bands, and the numbers of each arm's marks.
  const [batchRow, textRow] = [4, 14];
  const headroom = ({ lines, bands }) => {
    const batches = 2 + batchRow * (lines.findLastIndex((line) => line.batches) + 1);
    const marks = batches + (bands ? textRow : 0);
    return { batches, marks, height: marks + textRow * lines.filter((line) => line.marks).length };
  };

  const writeSmall = (u, align) => {
    u.ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    u.ctx.textBaseline = "bottom";
    u.ctx.textAlign = align;
  };

  const nameBand = (above) => (u, name, from, to) => {
    if (to <= from) return;
    writeSmall(u, "left");
    u.ctx.fillStyle = color("muted");
    u.ctx.fillText(name, from, u.bbox.top - above * devicePixelRatio);
  };

  // fillAround shades the range of all runs of each arm, up to the top of the chart.
  const fillAround = (lines) => (u) => {
    const { left, top, width, height } = u.bbox;
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(left, top, width, height);
    u.ctx.clip();
    u.ctx.globalAlpha = 0.17;
    lines.forEach((line, i) => {
      if (!line.lows || !u.series[i + 1].show) return;
      const at = (values) => values.map((value, j) => [u.valToPos(line.minutes[j], "x", true), u.valToPos(value, "y", true)]);
      u.ctx.beginPath();
      for (const [x, y] of [...at(line.highs), ...at(line.lows).reverse()]) u.ctx.lineTo(x, y);
      u.ctx.fillStyle = color(arms[line.arm].color);
      u.ctx.fill();
    });
    u.ctx.restore();
  };

  // markBatches draws the batches of each arm's run, above those of the previous arm.
  const markBatches = (lines) => (u) => {
    u.ctx.save();
    lines.forEach((line, i) => {
      if (!u.series[i + 1].show) return;
      u.ctx.fillStyle = color(arms[line.arm].color);
      eachBand(line.batches ?? [], (_, name, from, to) => u.ctx.fillRect(from, u.bbox.top - (4.5 + batchRow * i) * devicePixelRatio, to - from, 2.5 * devicePixelRatio))(u);
    });
    u.ctx.restore();
  };

  // drawMarks draws the marks of each arm's run, which are notes and restarted containers, as
  // moments or ranges with their numbers above. The list below the chart explains them.
  const drawMarks = (lines, above) => (u) => {
    const { left, top, width, height } = u.bbox;
    const ratio = devicePixelRatio;
    let [number, row] = [0, 0];
    u.ctx.save();
    writeSmall(u, "left");
    u.ctx.setLineDash([2 * ratio, 2 * ratio]);
    u.ctx.lineWidth = ratio;
    lines.forEach((line, i) => {
      if (!line.marks) return;
      const y = top - (above + textRow * row++) * ratio;
      let taken = left;
      for (const mark of line.marks) {
        number++;
        if (!u.series[i + 1].show || (zoomed && (mark.to < zoomed[0] || mark.from > zoomed[1]))) continue;
        const [from, to] = [mark.from, mark.to].map((at) => Math.max(left, Math.min(left + width, u.valToPos(at, "x", true))));
        u.ctx.fillStyle = u.ctx.strokeStyle = color(arms[line.arm].color);
        u.ctx.globalAlpha = 0.17;
        u.ctx.fillRect(from, top, to - from, height);
        u.ctx.globalAlpha = 1;
        u.ctx.beginPath();
        u.ctx.moveTo(from, top);
        u.ctx.lineTo(from, top + height);
        u.ctx.stroke();
        const wide = u.ctx.measureText(number).width;
        const at = Math.max(taken, from - wide / 2);
        u.ctx.fillStyle = color(`${arms[line.arm].color}-text`);
        u.ctx.fillText(number, at, y);
        taken = at + wide + 3 * ratio;
      }
    });
    u.ctx.restore();
  };

  // highest is the top of the lines and of the ranges around them, which count up to three times
  // as high.
  const highest = (lines, isShown) => {
    const shown = lines.filter((_, i) => isShown(i));
    const line = Math.max(0, ...shown.flatMap((one) => one.values));
    return Math.max(line, Math.min(3 * line, Math.max(0, ...shown.flatMap((one) => one.highs ?? [])))) || 1;
  };

  // plain formats numbers as the rest of the page does.
  const plain = new Intl.NumberFormat("en", { useGrouping: false, maximumFractionDigits: 6 });

  // roundSeconds are the steps of an axis in seconds, given in minutes.
  const roundSeconds = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30, 60].map((seconds) => seconds / 60);

  // zoom zooms all charts over time to a range; null is the whole run.
  const zoom = (stretch) => {
    zoomed = stretch;
    for (const chart of charts) chart.zoom();
  };

  const axis = (more) => ({
    values: (u, at) => at.map((value) => plain.format(value)),
    stroke: () => color("muted"),
    font: "11px system-ui, sans-serif",
    labelFont: "11px system-ui, sans-serif",
    ticks: { stroke: () => color("grid"), width: 1, size: 4 },
    ...more,
  });

  const series = (line) => ({
    label: arms[line.arm].name,
    stroke: () => color(arms[line.arm].color),
    width: 1.75,
    dash: arms[line.arm].dash,
    spanGaps: true,
    points: { show: false },
    show: !hidden.has(line.arm),
  });

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.last = Math.max(...this.data.lines.map((line) => line.minutes.at(-1)));
      this.legend = make("ul", { className: "legend" });
      this.values = this.data.lines.map((line) => this.legendOf(line));
      this.tooltip = make("div", { className: "tooltip", hidden: true });
      this.box = make("div", { className: "plot" });
      this.keys = make("ul", { className: "keys" }, ...(this.data.keys ?? []).map((key) => this.keyOf(key)));
      this.whole = make("button", { type: "button", className: "whole", hidden: !zoomed, onclick: () => zoom(null) }, "Whole run");
      this.plot = new uPlot(this.options(), aligned(this.data.lines), this.box);
      this.plot.over.append(this.tooltip);
      this.box.append(this.whole);
      this.place();
      this.listen();
    }

    legendOf(line) {
      const value = make("span", { className: "value" });
      const entry = make("li", {}, swatch(line.arm), make("span", {}, arms[line.arm].name), value);
      entry.dataset.arm = line.arm;
      entry.classList.toggle("off", hidden.has(line.arm));
      this.legend.append(entry);
      return value;
    }

    keyOf({ arm, sign, text }) {
      const entry = make("li", {}, make("b", {}, sign), make("span", {}, text));
      entry.style.setProperty("--of", `var(--${arms[arm].color}-text)`);
      entry.dataset.arm = arm;
      entry.classList.toggle("off", hidden.has(arm));
      return entry;
    }

    options() {
      const bands = this.data.bands ?? [];
      const above = headroom(this.data);
      const per = this.data.perMinute;
      return {
        ...this.size(),
        legend: { show: false },
        padding: [6 + above.height, 10, 0, 0],
        scales: { x: { time: false, range: () => zoomed ?? [0, this.last] }, y: { range: (u, low) => [Math.min(0, low ?? 0), highest(this.data.lines, (i) => u.series[i + 1].show) * 1.15] } },
        axes: [axis({ label: this.data.axis, incrs: per === 1 ? undefined : roundSeconds, values: (u, at) => at.map((value) => plain.format(Math.round(value * per * 1e3) / 1e3)), labelSize: 18, size: 24, grid: { show: false } }), axis({ size: 46, grid: { stroke: () => color("grid"), width: 1 } })],
        series: [{}, ...this.data.lines.map(series)],
        cursor: {
          y: false,
          drag: { x: true, y: false, setScale: false, dist: 8 },
          bind: { dblclick: () => () => zoom(null) },
          sync: { key: "time", scales: ["x", null] },
          points: { size: 7, width: 1.5, stroke: (u, at) => color(arms[this.data.lines[at - 1].arm].color), fill: () => color("page") },
          dataIdx: (u, at, hovered) => (at === 0 ? hovered : nearest(u.data[at], hovered)),
        },
        hooks: { drawClear: [eachBand(bands, shadeBand), fillAround(this.data.lines)], draw: [eachBand(bands, nameBand(above.batches)), markBatches(this.data.lines), drawMarks(this.data.lines, above.marks)], setCursor: [() => this.tell()], setSelect: [(u) => this.select(u)] },
      };
    }

    // select zooms all charts to the range that was dragged over this one.
    select(u) {
      const { left, width } = u.select;
      if (width === 0 || !this.isPointedAt) return;
      const stretch = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      zoom(stretch);
    }

    // zoom shows the range of all charts.
    zoom() {
      const [min, max] = zoomed ?? [0, this.last];
      this.plot.setScale("x", { min, max });
      this.whole.hidden = !zoomed;
    }

    // zoomBy zooms by a factor around the cursor.
    zoomBy(factor) {
      const [from, to] = zoomed ?? [0, this.last];
      const at = this.plot.cursor.idx == null ? (from + to) / 2 : this.plot.data[0][this.plot.cursor.idx];
      const stretch = [Math.max(0, at - (at - from) * factor), Math.min(this.last, at + (to - at) * factor)];
      zoom(stretch[0] === 0 && stretch[1] === this.last ? null : stretch);
    }

    size() {
      const width = Math.floor(this.figure.getBoundingClientRect().width);
      return { width, height: Math.round(Math.min(260, Math.max(190, width * 0.55))) + headroom(this.data).height };
    }

    // place puts the chart at the picture's place. The picture stays for print.
    place() {
      const title = this.figure.querySelector("figcaption");
      const picture = this.figure.querySelector(":scope > svg");
      Object.entries({
        tabindex: "0", role: "slider", "aria-label": `${title.textContent}: point in time`,
        "aria-valuemin": "0", "aria-valuemax": String(this.last), "aria-valuenow": "0", "aria-valuetext": picture.getAttribute("aria-label"),
      }).forEach(([name, value]) => this.box.setAttribute(name, value));
      title.after(this.legend, this.box, this.keys);
      this.figure.classList.add("live");
    }

    listen() {
      this.box.addEventListener("mouseenter", () => { this.isPointedAt = true; });
      this.box.addEventListener("mouseleave", () => { this.isPointedAt = false; this.tooltip.hidden = true; });
      this.box.addEventListener("blur", () => this.leave());
      this.box.addEventListener("keydown", (event) => this.onKey(event));
      new ResizeObserver(() => {
        const size = this.size();
        if (size.width > 0 && size.width !== this.plot.width) this.plot.setSize(size);
      }).observe(this.figure);
    }

    onKey(event) {
      const times = this.plot.data[0];
      const at = this.plot.cursor.idx ?? -1;
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowUp: at + 1, ArrowDown: at - 1, PageUp: at + 10, PageDown: at - 10, Home: 0, End: times.length - 1 }[event.key];
      if (event.key === "Escape") this.leave();
      const factor = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
      if (factor) this.zoomBy(factor);
      if (event.key === "0") zoom(null);
      if (to === undefined) return;
      event.preventDefault();
      this.isPointedAt = true;
      this.plot.setCursor({ left: this.plot.valToPos(times[Math.max(0, Math.min(times.length - 1, to))], "x"), top: 10 });
    }

    leave() {
      this.isPointedAt = false;
      this.plot.setCursor({ left: -10, top: -10 });
    }

    // tell shows the values of the lines at the cursor, here and in all other charts.
    tell() {
      if (!this.plot) return;
      const { left, idxs } = this.plot.cursor;
      const isIn = left >= 0 && left <= this.plot.over.clientWidth;
      const at = isIn ? this.plot.posToVal(left, "x") : null;
      const shown = this.data.lines.map((line, i) => (isIn && idxs[i + 1] != null && this.plot.series[i + 1].show ? this.plot.data[i + 1][idxs[i + 1]] : null));
      shown.forEach((value, i) => { this.values[i].textContent = value == null ? "" : told(value, this.data.unit); });
      this.tooltip.hidden = !(isIn && this.isPointedAt);
      if (!this.tooltip.hidden) this.fillTooltip(at, left, shown);
    }

    fillTooltip(at, left, shown) {
      const during = on(this.data.bands, at);
      const marks = this.data.lines.flatMap((line, i) => (this.plot.series[i + 1].show ? on(line.marks, at, this.last / 100).map((what) => `${arms[line.arm].name}: ${what}`) : []));
      const rows = this.data.lines.flatMap((line, i) => (shown[i] == null ? [] : [make("tr", {},
        make("td", {}, swatch(line.arm), arms[line.arm].name), make("td", { className: "n" }, told(shown[i], this.data.unit)), make("td", { className: "run" }, [`block ${line.block}`, ...on(line.batches, at)].join(" \u00b7 ")))]));
      this.tooltip.replaceChildren(make("p", {}, [timeOf(at), ...during].join(" \u00b7 ")), make("table", { role: "presentation" }, make("tbody", {}, ...rows)), ...marks.map((mark) => make("p", {}, mark)));
      this.putTooltip(left);
      this.box.setAttribute("aria-valuenow", at.toFixed(2));
      this.box.setAttribute("aria-valuetext", [timeOf(at), ...during, ...this.data.lines.flatMap((line, i) => (shown[i] == null ? [] : [`${arms[line.arm].name} ${told(shown[i], this.data.unit)}`])), ...marks].join(", "));
    }

    // putTooltip places the tooltip beside the cursor, within the chart.
    putTooltip(left) {
      const away = 12;
      const { offsetLeft, clientWidth } = this.plot.over;
      const width = this.tooltip.offsetWidth;
      const wanted = left > clientWidth / 2 ? left - away - width : left + away;
      this.tooltip.style.left = `${Math.max(-offsetLeft, Math.min(wanted, clientWidth - width))}px`;
    }

    showArms() {
      this.data.lines.forEach((line, i) => {
        const show = !hidden.has(line.arm);
        if (this.plot.series[i + 1].show !== show) this.plot.setSeries(i + 1, { show });
      });
      this.tell();
    }
  }

  // A chart is created when it comes near the screen: a large report has hundreds.
  const startCharts = () => {
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((one) => one.isIntersecting)) {
        near.unobserve(entry.target);
        charts.push(new Chart(entry.target));
      }
    }, { rootMargin: "600px" });
    for (const data of all("figure > script")) near.observe(data.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const chart of charts) chart.plot.redraw(false, true);
    });
  };

  document.querySelector(".side").append(toolbar());
  // Notes stay as their authors wrote them.
  for (const table of all("main table").filter((one) => one.caption)) {
    makeSortable(table);
    makeFilterable(table);
  }
  startCharts();
  startPrinting();
  startFolding();
})();
