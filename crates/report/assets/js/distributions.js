// Distributions: the empirical distribution function or the histogram of a quantity, a line for each call or group.

import { choice, clear, h, name, s, shorten, visible } from "./dom.js";
import { bytes, count, duration, percent, plural, roundStep } from "./format.js";
import { groupOf, hue } from "./hues.js";
import { table } from "./table.js";
import { ZoomView } from "./zoom.js";

const QUANTITIES = {
  latency: { label: "Latency of calls", unit: duration, each: "call", of: "calls" },
  "read-length": { label: "Bytes of a read, by group", unit: bytes, each: "read", of: "groups" },
  "write-length": { label: "Bytes of a write, by group", unit: bytes, each: "write", of: "groups" },
  "process-read": { label: "Bytes read by a process", unit: bytes, each: "process", of: "groups" },
  "process-written": { label: "Bytes written by a process", unit: bytes, each: "process", of: "groups" },
  "file-read-length": { label: "Bytes of a read, by kind of file", unit: bytes, each: "read", of: "files" },
  "file-write-length": { label: "Bytes of a write, by kind of file", unit: bytes, each: "write", of: "files" },
  lifetime: { label: "Lifetime of processes", unit: duration, each: "process", of: "groups" },
};
const FIRST_SERIES = 6;
const HEIGHT = 340;
const MARGIN = { left: 52, right: 14, top: 10, bottom: 30 };
const HISTOGRAM_BINS = 40;
const DASHES = ["", "7 3", "2 3", "10 3 2 3"];

function running(differences) {
  let sum = 0;
  return differences.map((difference) => (sum += difference));
}

/** Values and the share of values not larger. */
export function loadSeries(data, one, index) {
  const counts = running(one.k);
  return {
    index,
    name: data.text(one.n),
    count: one.c,
    sum: one.s,
    error: one.e ?? 0,
    distinct: one.d,
    values: running(one.v),
    shares: counts.map((number) => number / one.c),
  };
}

/** The share of values not larger than `value`. */
export function shareAt(series, value) {
  let [low, high] = [0, series.values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (series.values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : series.shares[low - 1];
}

export function quantile(series, share) {
  return series.values[
    Math.max(
      series.shares.findIndex((one) => one >= share - 1e-12),
      0,
    )
  ];
}

export class Distributions extends ZoomView {
  constructor(data, root) {
    super();
    this.data = data;
    this.all = new Map(
      data.workflow.distributions.map((one) => [
        one.quantity,
        {
          more: one.more,
          moreValues: one.more_values,
          series: one.series.map((row, index) => loadSeries(data, row, index)),
        },
      ]),
    );
    this.kind = "ecdf";
    this.log = true;
    this.build(root);
    this.show([...this.all.keys()][0]);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  build(root) {
    const button = (text, label, action) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    const options = Object.fromEntries([...this.all.keys()].map((key) => [key, QUANTITIES[key]?.label ?? key]));
    this.canvas = s("svg", {
      class: "chart",
      id: "distribution-chart",
      tabindex: "0",
      role: "application",
      onkeydown: (event) => this.key(event),
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.status = h("p", { class: "status", id: "distribution-status", role: "status" });
    this.chips = h("div", { class: "toggles", role: "group", "aria-label": "Series" });
    this.figures = h("div");
    root.append(
      h(
        "div",
        { class: "toolbar" },
        choice("Quantity", options, [...this.all.keys()][0], (value) => this.show(value)),
        choice("Show as", { ecdf: "cumulative share (ECDF)", histogram: "histogram" }, this.kind, (value) => {
          this.kind = value;
          this.draw();
        }),
        choice("Horizontal axis", { log: "logarithmic", linear: "linear" }, "log", (value) => {
          this.log = value === "log";
          this.reset();
        }),
        h("span", { class: "spring" }),
        h(
          "div",
          { class: "group", role: "group", "aria-label": "Zoom" },
          button("←", "Smaller values", () => this.pan(-0.25)),
          button("→", "Larger values", () => this.pan(0.25)),
          button("+", "Zoom in", () => this.zoom(1.6)),
          button("−", "Zoom out", () => this.zoom(1 / 1.6)),
          button("All", "All values", () => this.reset()),
        ),
      ),
      this.chips,
      h("div", { class: "chart-frame" }, this.canvas, this.tip),
      this.status,
      this.figures,
    );
    this.pointer();
  }

  show(quantity) {
    this.quantity = quantity;
    this.about = QUANTITIES[quantity] ?? { label: quantity, unit: count, each: "value", of: "series" };
    const { series } = this.all.get(quantity);
    this.active = new Set(series.slice(0, FIRST_SERIES).map((one) => one.index));
    this.drawChips();
    this.drawFigures();
    this.reset();
  }

  colour(one) {
    const group = this.about.of === "groups" ? groupOf(this.data, one.name) : one.index;
    return hue(this.about.of === "groups" && group < 0 ? -1 : group);
  }

  drawChips() {
    const { series } = this.all.get(this.quantity);
    clear(this.chips).append(
      ...series.map((one) => {
        const chip = h(
          "button",
          {
            type: "button",
            class: "toggle",
            "aria-pressed": String(this.active.has(one.index)),
            title: visible(one.name),
            onclick: () => {
              if (this.active.has(one.index)) this.active.delete(one.index);
              else this.active.add(one.index);
              chip.setAttribute("aria-pressed", String(this.active.has(one.index)));
              this.draw();
            },
          },
          h("i", { class: "swatch", "aria-hidden": "true", style: { background: this.colour(one) } }),
          shorten(visible(one.name), 30),
        );
        return chip;
      }),
    );
  }

  drawFigures() {
    const { series, more } = this.all.get(this.quantity);
    const { unit } = this.about;
    const number = (key, label, value, text = unit, title) => ({
      key,
      label,
      number: true,
      value,
      text: (row) => text(value(row)),
      title,
    });
    const within = "From the thinned steps: within 1/300 of the values";
    clear(this.figures).append(
      h(
        "details",
        null,
        h("summary", null, "Figures of each series"),
        table(
          [
            {
              key: "series",
              label: "Series",
              value: (row) => row.name,
              text: (row) =>
                h(
                  "span",
                  null,
                  h("i", { class: "swatch", "aria-hidden": "true", style: { background: this.colour(row) } }),
                  name(row.name, 60),
                ),
            },
            number("count", "Values", (row) => row.count, count),
            number("mean", "Mean", (row) => row.sum / row.count),
            number("min", "Least", (row) => row.values[0]),
            number("p50", "Median", (row) => quantile(row, 0.5), unit, within),
            number("p95", "95 %", (row) => quantile(row, 0.95), unit, within),
            number("max", "Largest", (row) => row.values.at(-1)),
            number("sum", "Sum", (row) => row.sum),
          ],
          {
            rows: series,
            sort: "count",
            caption: this.about.label,
            file: this.quantity,
            more: more > 0 ? `${plural(more, "smaller series", "smaller series")} not in this file` : null,
          },
        ),
      ),
    );
  }

  chosen() {
    return this.all.get(this.quantity).series.filter((one) => this.active.has(one.index));
  }

  /** Values as the axis places them: a logarithm begins at 1, what is smaller lies at its left end. */
  scale(value) {
    return this.log ? Math.log10(Math.max(value, 1)) : value;
  }

  unscale(place) {
    return this.log ? 10 ** place : place;
  }

  reset() {
    const all = this.all.get(this.quantity).series;
    const least = Math.min(...all.map((one) => this.scale(one.values[0])));
    const most = Math.max(...all.map((one) => this.scale(one.values.at(-1))));
    const margin = Math.max((most - least) * 0.02, this.log ? 0.05 : 0.5);
    this.whole = [least - margin, most + margin];
    this.range = [...this.whole];
    this.draw();
  }

  least() {
    return (this.whole[1] - this.whole[0]) / 10000;
  }

  key(event) {
    const actions = {
      ArrowLeft: () => this.mark(-1),
      ArrowRight: () => this.mark(1),
      "+": () => this.zoom(1.5),
      "=": () => this.zoom(1.5),
      "-": () => this.zoom(1 / 1.5),
      0: () => this.reset(),
      Escape: () => {
        this.cursor = null;
        this.draw();
      },
    };
    if (event.shiftKey && event.key.startsWith("Arrow"))
      this.pan(event.key === "ArrowLeft" ? -0.1 : event.key === "ArrowRight" ? 0.1 : 0);
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  }

  /** Moves the line of the keyboard, which says what a pointer would see. */
  mark(step) {
    const span = this.range[1] - this.range[0];
    this.cursor = Math.min(
      Math.max((this.cursor ?? this.range[0] + span / 2) + (step * span) / 40, this.range[0]),
      this.range[1],
    );
    this.draw();
  }

  x(place) {
    return (
      MARGIN.left +
      ((place - this.range[0]) / (this.range[1] - this.range[0])) * (this.width - MARGIN.left - MARGIN.right)
    );
  }

  y(share) {
    return HEIGHT - MARGIN.bottom - share * (HEIGHT - MARGIN.top - MARGIN.bottom);
  }

  ticks() {
    const [from, to] = this.range;
    const steps = Math.max((this.width - MARGIN.left) / 90, 2);
    if (!this.log || to - from < 1.2) {
      const [low, high] = [this.unscale(from), this.unscale(to)];
      const step = roundStep(high - low, steps);
      return Array.from(
        { length: Math.floor(high / step) - Math.ceil(low / step) + 1 },
        (_, at) => (Math.ceil(low / step) + at) * step,
      );
    }
    const step = Math.max(Math.ceil((to - from) / steps), 1);
    return Array.from({ length: Math.floor(to) - Math.ceil(from) + 1 }, (_, at) => Math.ceil(from) + at)
      .filter((power) => power % step === 0)
      .map((power) => 10 ** power);
  }

  draw() {
    this.width = this.canvas.clientWidth;
    if (this.width === 0 || !this.range) return;
    clear(this.canvas).setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    const top = this.kind === "ecdf" ? 1 : this.bins();
    const axis = s("g", { class: "axes" });
    for (let part = 0; part <= 4; part += 1) {
      const y = this.y(part / 4);
      axis.append(
        s("path", { d: `M${MARGIN.left} ${y.toFixed(1)}H${this.width - MARGIN.right}` }),
        s(
          "text",
          { x: MARGIN.left - 6, y: y.toFixed(1), "text-anchor": "end", "dominant-baseline": "central" },
          percent((part / 4) * top),
        ),
      );
    }
    for (const value of this.ticks()) {
      const x = this.x(this.scale(value));
      if (x < MARGIN.left || x > this.width - MARGIN.right) continue;
      axis.append(
        s("path", { d: `M${x.toFixed(1)} ${this.y(0)}v5` }),
        s(
          "text",
          { x: Math.min(x, this.width - 30).toFixed(1), y: HEIGHT - 10, "text-anchor": "middle" },
          this.about.unit(value),
        ),
      );
    }
    this.canvas.append(axis);
    for (const one of this.chosen())
      this.canvas.append(this.kind === "ecdf" ? this.curve(one) : this.outline(one, top));
    this.line = s("g", { class: "cursor" });
    this.canvas.append(this.line);
    this.describe();
    if (this.cursor !== undefined && this.cursor !== null) this.point(this.cursor);
    else this.tip.hidden = true;
  }

  stroke(one) {
    return {
      style: { stroke: this.colour(one) },
      "stroke-dasharray": DASHES[Math.floor(one.index / 7) % DASHES.length] || null,
      class: "series",
    };
  }

  curve(one) {
    const [left, right] = [MARGIN.left, this.width - MARGIN.right];
    const place = (value) => Math.min(Math.max(this.x(this.scale(value)), left), right).toFixed(1);
    let d = `M${left} ${this.y(shareAt(one, this.unscale(this.range[0]) - (this.log ? 0 : 1e-9))).toFixed(1)}`;
    one.values.forEach((value, at) => {
      if (this.scale(value) >= this.range[0] && this.scale(value) <= this.range[1])
        d += `H${place(value)}V${this.y(one.shares[at]).toFixed(1)}`;
    });
    return s("path", { d: `${d}H${right}`, ...this.stroke(one) });
  }

  /** Shares of each series in equal parts of what is shown; the largest share. */
  bins() {
    const [from, to] = this.range;
    const edge = (bin) => this.unscale(from + ((to - from) * bin) / HISTOGRAM_BINS);
    this.binned = new Map(
      this.chosen().map((one) => [
        one.index,
        Array.from(
          { length: HISTOGRAM_BINS },
          (_, bin) => shareAt(one, edge(bin + 1)) - (bin === 0 && from <= this.whole[0] ? 0 : shareAt(one, edge(bin))),
        ),
      ]),
    );
    return Math.max(...[...this.binned.values()].flat(), 0.01);
  }

  outline(one, top) {
    const shares = this.binned.get(one.index);
    const x = (bin) => (MARGIN.left + ((this.width - MARGIN.left - MARGIN.right) * bin) / HISTOGRAM_BINS).toFixed(1);
    let d = `M${x(0)} ${this.y(0)}`;
    shares.forEach((share, bin) => {
      d += `V${this.y(share / top).toFixed(1)}H${x(bin + 1)}`;
    });
    return s("path", { d: `${d}V${this.y(0)}`, ...this.stroke(one), class: "series filled" });
  }

  describe() {
    const { series, more, moreValues } = this.all.get(this.quantity);
    const thinned = series.filter((one) => one.distinct > one.values.length);
    const joined = Math.max(...series.map((one) => one.error));
    const shown = this.chosen();
    const text =
      `${this.about.label}: ${plural(shown.length, "series", "series")} with ${plural(
        shown.reduce((sum, one) => sum + one.count, 0),
        this.about.each,
        this.about.each === "process" ? "processes" : `${this.about.each}s`,
      )} of ${plural(series.length, "series", "series")}. Each value counts once, never by its size. ` +
      (thinned.length > 0
        ? `${plural(thinned.length, "series", "series")} ${thinned.length === 1 ? "is" : "are"} thinned to at most 302 steps: a share is off by less than 1/300. `
        : "Every distinct value is in this file. ") +
      (joined > 0 ? `Values were joined within ${percent(joined)}. ` : "") +
      (more > 0
        ? `${plural(more, "smaller series", "smaller series")} with ${plural(moreValues, "value")} ${more === 1 ? "is" : "are"} not in this file. `
        : "") +
      `Drag to zoom, arrow keys move a line, plus, minus and 0 zoom.`;
    if (this.status.textContent !== text) this.status.textContent = text;
    this.canvas.setAttribute(
      "aria-label",
      `${this.about.label}, ${this.kind === "ecdf" ? "cumulative share (ECDF)" : "histogram"}. Arrow keys read values, plus and minus zoom, Shift with arrow keys moves, 0 shows all.`,
    );
  }

  /** A line at a place of the axis, and what the series have there. */
  point(place, clientY) {
    const x = this.x(place);
    if (x < MARGIN.left || x > this.width - MARGIN.right) {
      this.tip.hidden = true;
      return;
    }
    clear(this.line).append(s("path", { d: `M${x.toFixed(1)} ${MARGIN.top}V${this.y(0)}` }));
    const value = this.unscale(place);
    const bin = Math.min(
      Math.floor(((place - this.range[0]) / (this.range[1] - this.range[0])) * HISTOGRAM_BINS),
      HISTOGRAM_BINS - 1,
    );
    const rows = this.chosen()
      .map((one) => [one, this.kind === "ecdf" ? shareAt(one, value) : this.binned.get(one.index)[bin]])
      .sort((a, b) => b[1] - a[1]);
    const part = (at) =>
      this.about.unit(this.unscale(this.range[0] + ((this.range[1] - this.range[0]) * at) / HISTOGRAM_BINS));
    clear(this.tip).append(
      h("b", null, this.kind === "ecdf" ? `≤ ${this.about.unit(value)}` : `${part(bin)} to ${part(bin + 1)}`),
      ...rows
        .slice(0, 9)
        .map(([one, share]) =>
          h(
            "div",
            null,
            h("i", { class: "swatch", "aria-hidden": "true", style: { background: this.colour(one) } }),
            `${shorten(visible(one.name), 30)} ${percent(share)}`,
          ),
        ),
      rows.length > 9 ? h("div", null, `and ${count(rows.length - 9)} more`) : "",
    );
    this.tip.hidden = false;
    const left = x + 14 + this.tip.offsetWidth > this.width ? x - this.tip.offsetWidth - 14 : x + 14;
    this.tip.style.transform = `translate(${Math.max(left, 0)}px, ${Math.max((clientY ?? 60) - 20, 0)}px)`;
  }

  pointer() {
    const { canvas } = this;
    let held = null;
    const at = (event) => {
      const frame = canvas.getBoundingClientRect();
      return [
        this.range[0] +
          ((event.clientX - frame.left - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right)) *
            (this.range[1] - this.range[0]),
        event.clientY - frame.top,
      ];
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0) {
        held = at(event)[0];
        canvas.setPointerCapture(event.pointerId);
      }
    });
    canvas.addEventListener("pointermove", (event) => {
      const [place, y] = at(event);
      this.point(place, y);
      if (held === null) return;
      const [left, right] = [this.x(held), this.x(place)].sort((a, b) => a - b);
      this.line.append(
        s("rect", {
          x: left.toFixed(1),
          width: (right - left).toFixed(1),
          y: MARGIN.top,
          height: this.y(0) - MARGIN.top,
        }),
      );
    });
    canvas.addEventListener("pointerup", (event) => {
      const place = at(event)[0];
      const before = held;
      held = null;
      if (before !== null && Math.abs(this.x(place) - this.x(before)) > 6)
        this.place(Math.min(before, place), Math.abs(place - before));
    });
    canvas.addEventListener("pointerleave", () => {
      if (held === null) {
        this.tip.hidden = true;
        clear(this.line);
      }
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * 0.004), at(event)[0]);
      },
      { passive: false },
    );
  }
}
