// When an activity was in flight: one bar per event and case, and how many were in flight at once (the paper's figure 5).

import { clear, h, shorten, visible } from "./dom.js";
import { count, duration, moment, percent, plural, roundStep } from "./format.js";
import { css, shade } from "./colour.js";
import { ZoomView } from "./zoom.js";

const AXIS = 26;
const CURVE = 96;
export const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/** `A3B.2C` and so on: a digit is a filled bin, `.` an empty one; `~N~` repeats the empty bin N times. */
export function decode(row) {
  const bins = [];
  for (const part of row.split("~")) {
    if (/^\d+!$/.test(part)) for (let left = Number(part.slice(0, -1)); left > 0; left -= 1) bins.push(0);
    else for (const digit of part) bins.push(digit === "." ? 0 : (DIGITS.indexOf(digit) + 1) / 64);
  }
  return bins;
}

/** Steps of the number of bars in flight, [time, number], from bars with a known duration. */
export function steps(bars) {
  const changes = new Map();
  for (const [, start, length] of bars) {
    if (length <= 0) continue;
    changes.set(start, (changes.get(start) ?? 0) + 1);
    changes.set(start + length, (changes.get(start + length) ?? 0) - 1);
  }
  let now = 0;
  return [...changes].sort((a, b) => a[0] - b[0]).map(([time, change]) => [time, (now += change)]);
}

export class TimelineView extends ZoomView {
  constructor(data, root, part) {
    super();
    this.data = data;
    this.part = part;
    const available = data.nodes.filter((node) => data.timeline.acts[node.index]);
    this.available = available;
    if (available.length === 0) {
      root.append(h("p", null, "There is no event to draw."));
      return;
    }
    const select = h(
      "select",
      { id: "timeline-activity", onchange: () => this.show(Number(select.value)) },
      available.map((node) =>
        h("option", { value: node.index }, `${shorten(visible(node.name), 60)} (${count(node.c)})`),
      ),
    );
    this.selectBox = select;
    this.canvas = h("canvas", {
      id: "timeline-canvas",
      tabindex: "0",
      role: "img",
      onkeydown: (event) => this.key(event),
    });
    this.note = h("p", { class: "status", id: "timeline-status", role: "status" });
    this.tip = h("div", { class: "tip", hidden: true });
    const button = (text, label, action) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    root.append(
      h(
        "div",
        { class: "toolbar" },
        h("label", { class: "field" }, h("span", null, "Activity"), select),
        h("span", { class: "spring" }),
        h(
          "div",
          { class: "group", role: "group", "aria-label": "Zoom in time" },
          button("←", "Earlier", () => this.pan(-0.25)),
          button("→", "Later", () => this.pan(0.25)),
          button("+", "Zoom in", () => this.zoom(2)),
          button("−", "Zoom out", () => this.zoom(0.5)),
          button("All", "Whole time", () => this.all()),
        ),
      ),
      this.note,
      h("div", { class: "timeline-frame" }, this.canvas, this.tip),
      h("p", { class: "status" }, "Drag to move in time, Ctrl and wheel or + and − to zoom, 0 for the whole time."),
    );
    this.pointer();
    addEventListener("resize", () => this.draw());
    this.show(available[0].index);
    part?.listen(() => this.look());
  }

  show(index) {
    if (!this.data.timeline.acts[index]) return;
    this.index = index;
    this.selectBox.value = index;
    const act = this.data.timeline.acts[index];
    this.act = act;
    this.binned = !act.bars;
    this.bars = act.bars ?? act.longest;
    this.heat = this.binned ? act.rows.map((row) => decode(row.h)) : [];
    this.curve = this.binned ? act.level.map((level, bin) => [bin * act.bin_ns, level]) : steps(act.bars);
    this.look();
  }

  /** The window of the page, or all. */
  look() {
    this.all();
    if (!this.part || this.part.isWhole) return;
    const [from, to] = this.part.span;
    this.place(from, Math.min(to - from, this.whole[1] - this.whole[0]));
  }

  all() {
    const ends = this.binned
      ? [0, this.data.span_ns]
      : this.bars.flatMap(([, start, length]) => [start, start + Math.max(length, 0)]);
    let [from, to] = [Math.min(...ends), Math.max(...ends)];
    if (to <= from) [from, to] = [from - 500, to + 500];
    const margin = (to - from) * 0.015;
    this.whole = [from - margin, to + margin];
    this.range = [...this.whole];
    this.draw();
  }

  least() {
    return 20;
  }

  key(event) {
    const actions = {
      ArrowLeft: () => this.pan(-0.1),
      ArrowRight: () => this.pan(0.1),
      "+": () => this.zoom(1.5),
      "=": () => this.zoom(1.5),
      "-": () => this.zoom(1 / 1.5),
      0: () => this.all(),
    };
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  }

  /** Height of a row: roomy for few, at least 5 pixels for many. */
  rowHeight() {
    return Math.max(5, Math.min(22, 520 / Math.max(this.act.rows.length, 1)));
  }

  draw() {
    if (!this.canvas) return;
    const { canvas, act } = this;
    const width = canvas.parentElement.clientWidth;
    if (!act || width === 0) return;
    const gutter = Math.min(190, Math.max(70, width * 0.17));
    const rowHeight = this.rowHeight();
    const height = Math.ceil(act.rows.length * rowHeight + AXIS + CURVE + 34);
    const density = devicePixelRatio || 1;
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    canvas.style.height = `${height}px`;
    const c = canvas.getContext("2d");
    c.scale(density, density);
    const style = getComputedStyle(document.documentElement);
    const colour = (token) => style.getPropertyValue(token).trim();
    this.frame = { gutter, width, height, rowHeight };
    const x = (time) => gutter + ((time - this.range[0]) / (this.range[1] - this.range[0])) * (width - gutter - 8);
    this.x = x;
    c.font = `${Math.min(12, Math.max(9, rowHeight - 3))}px ${style.getPropertyValue("--sans")}`;
    c.textBaseline = "middle";
    this.drawRows(c, colour, x);
    this.drawAxis(c, colour, x);
    this.drawCurve(c, colour, x);
    this.describe();
  }

  drawRows(c, colour, x) {
    const { act } = this;
    const { gutter, width, rowHeight } = this.frame;
    const label = rowHeight >= 11 ? 1 : Math.ceil(12 / rowHeight);
    const bottom = act.rows.length * rowHeight;
    act.rows.forEach((row, place) => {
      const y = place * rowHeight;
      c.fillStyle = place % 2 ? colour("--ground") : colour("--band");
      c.fillRect(gutter, y, width - gutter - 8, rowHeight);
      if (place % label === 0) {
        c.fillStyle = colour("--muted");
        c.textAlign = "right";
        c.font = `11px ${colour("--sans")}`;
        const text =
          shorten(visible(this.data.text(row.k)), Math.floor((gutter - 12) / 6.2)) +
          (row.n > 1 ? ` +${row.n - 1}` : "");
        c.fillText(text, gutter - 6, y + (rowHeight * label) / 2, gutter - 10);
      }
    });
    c.save();
    c.beginPath();
    c.rect(gutter, 0, width - gutter - 8, bottom);
    c.clip();
    this.heat.forEach((bins, place) =>
      bins.forEach((share, bin) => {
        if (share <= 0) return;
        const [left, right] = [x(bin * act.bin_ns), x((bin + 1) * act.bin_ns)];
        if (right < gutter || left > width) return;
        c.fillStyle = css(shade(0.12 + 0.88 * share));
        c.fillRect(left, place * rowHeight + 0.5, Math.max(right - left, 0.7), rowHeight - 1);
      }),
    );
    c.fillStyle = this.binned ? colour("--mark") : colour("--accent");
    for (const [row, start, length] of this.bars) {
      const left = x(start);
      const extent = Math.max(x(start + Math.max(length, 0)) - left, 1);
      if (left + extent < gutter || left > width) continue;
      const inset = this.binned ? rowHeight * 0.3 : Math.min(2, rowHeight * 0.15);
      c.globalAlpha = this.binned ? 0.85 : 0.9;
      c.fillRect(left, row * rowHeight + inset, extent, rowHeight - 2 * inset);
    }
    c.globalAlpha = 1;
    c.restore();
  }

  drawAxis(c, colour, x) {
    const { gutter, width, rowHeight } = this.frame;
    const y = this.act.rows.length * rowHeight;
    const [from, to] = this.range;
    const step = roundStep(to - from, Math.max((width - gutter) / 110, 2));
    c.strokeStyle = colour("--line");
    c.fillStyle = colour("--muted");
    c.font = `11px ${colour("--sans")}`;
    c.textAlign = "center";
    c.lineWidth = 1;
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const place = Math.round(x(time)) + 0.5;
      if (place < gutter + 18 || place > width - 26) continue;
      c.beginPath();
      c.moveTo(place, y);
      c.lineTo(place, y + 5);
      c.stroke();
      c.fillText(this.data.clock === "order" ? `#${count(time)}` : tick(time, step, this.range[1]), place, y + 14);
    }
  }

  drawCurve(c, colour, x) {
    const { gutter, width, rowHeight } = this.frame;
    const top = this.act.rows.length * rowHeight + AXIS + 16;
    const right = width - 8;
    const most = Math.max(1, ...this.curve.map((point) => point[1]));
    const y = (value) => top + CURVE - (value / most) * CURVE;
    c.fillStyle = colour("--muted");
    c.textAlign = "right";
    c.font = `11px ${colour("--sans")}`;
    const text = (value) => (Number.isInteger(value) ? count(value) : value.toFixed(1));
    c.fillText(text(most), gutter - 6, top + 4);
    c.fillText("0", gutter - 6, top + CURVE);
    c.textAlign = "left";
    c.fillText(this.binned ? "in flight at once, mean of each bin" : "in flight at once", gutter, top - 11);
    c.save();
    c.beginPath();
    c.rect(gutter, top - 2, right - gutter, CURVE + 4);
    c.clip();
    c.beginPath();
    c.moveTo(gutter, y(0));
    let before = 0;
    for (const [time, value] of this.curve) {
      const place = Math.max(Math.min(x(time), right + 2), gutter - 2);
      c.lineTo(place, y(before));
      c.lineTo(place, y(value));
      before = value;
    }
    const end = Math.max(
      Math.min(x(this.binned ? this.curve.length * this.act.bin_ns : this.range[1]), right + 2),
      gutter,
    );
    c.lineTo(end, y(before));
    c.lineTo(end, y(0));
    c.globalAlpha = 0.22;
    c.fillStyle = colour("--accent");
    c.fill();
    c.globalAlpha = 1;
    c.strokeStyle = colour("--accent");
    c.lineWidth = 1.5;
    c.stroke();
    c.restore();
    c.strokeStyle = colour("--line");
    c.strokeRect(gutter + 0.5, top + CURVE + 0.5, right - gutter - 1, 0);
  }

  describe() {
    const { act, data, index } = this;
    const node = data.nodes[index];
    const cases = act.rows.reduce((sum, row) => sum + row.n, 0);
    const joined =
      act.rows.length < cases
        ? ` A row stands for up to ${plural(Math.max(...act.rows.map((row) => row.n)), "case")}.`
        : "";
    const open = this.bars.filter((bar) => bar[2] < 0).length;
    const what = this.binned
      ? `${count(act.count)} events are too many for a bar each: the shade of a cell is the share of ${duration(act.bin_ns)} in which its row had the call in flight, and the ${count(act.longest.length)} longest events, with ${percent(act.longest.reduce((sum, bar) => sum + Math.max(bar[2], 0), 0) / Math.max(node.t, 1))} of the time, are dark bars of their own.`
      : `One bar for each of the ${plural(act.count, "event")}${open > 0 ? `; ${plural(open, "event")} without a known end ${open === 1 ? "is a mark" : "are marks"}` : ""}.`;
    const curve = this.curve.reduce((best, point) => (point[1] > best[1] ? point : best), [0, 0]);
    const peak = this.binned
      ? ` On the mean of a bin, at most ${curve[1].toFixed(2)} were in flight at once.`
      : ` At most ${count(curve[1])} in flight at once${curve[1] > 0 ? `, first at +${duration(curve[0])}` : ""}.`;
    const clock =
      data.clock === "relative" || data.clock === "mixed"
        ? " The cases have clocks of their own: bars of different rows cannot be compared in time."
        : "";
    const text = `${what} ${plural(cases, "case")} in ${plural(act.rows.length, "row")}.${joined}${peak} By the ${data.concurrency_rule} rule over all events: ${count(node.m)}. Shown: +${duration(Math.max(this.range[0], 0))} to +${duration(this.range[1])} after the start${data.clock === "utc" ? ` (${moment(data, 0).slice(0, 23)} UTC)` : ""}.${clock}`;
    if (this.note.textContent !== text) this.note.textContent = text;
    this.canvas.setAttribute("aria-label", `Timeline of ${visible(node.name)}. ${text}`);
  }

  pointer() {
    const { canvas } = this;
    let held = null;
    const time = (event) => {
      const frame = canvas.getBoundingClientRect();
      const { gutter, width } = this.frame;
      return (
        this.range[0] + ((event.clientX - frame.left - gutter) / (width - gutter - 8)) * (this.range[1] - this.range[0])
      );
    };
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * 0.004), time(event));
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      held = time(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held !== null) {
        this.place(this.range[0] + held - time(event), this.range[1] - this.range[0]);
        this.tip.hidden = true;
      } else this.hover(event, time(event));
    });
    for (const kind of ["pointerup", "pointercancel"])
      canvas.addEventListener(kind, () => {
        held = null;
      });
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
  }

  /** What lies under the pointer, in words. */
  hover(event, time) {
    const frame = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - frame.top) / this.frame.rowHeight);
    const about = this.act.rows[row];
    if (!about || time < this.range[0]) {
      this.tip.hidden = true;
      return;
    }
    const slack = ((this.range[1] - this.range[0]) / this.frame.width) * 2;
    const bar = this.bars.findLast(
      (one) => one[0] === row && one[1] - slack <= time && time <= one[1] + Math.max(one[2], 0) + slack,
    );
    const who = `${shorten(visible(this.data.text(about.k)), 44)}${about.n > 1 ? ` and ${count(about.n - 1)} more cases` : ""}`;
    const bin = Math.floor(time / (this.act.bin_ns || 1));
    const what = bar
      ? `${bar[2] < 0 ? "end never seen" : `took ${duration(bar[2])}`}, began at ${moment(this.data, bar[1])}`
      : this.binned
        ? `in flight for ${percent(this.heat[row][bin] ?? 0)} of ${duration(this.act.bin_ns)}`
        : null;
    if (!what) {
      this.tip.hidden = true;
      return;
    }
    clear(this.tip).append(h("b", null, who), h("br"), what);
    this.tip.hidden = false;
    const left = Math.min(event.clientX - frame.left + 14, frame.width - this.tip.offsetWidth - 4);
    this.tip.style.transform = `translate(${Math.max(left, 0)}px, ${event.clientY - frame.top + 16}px)`;
  }
}

/** `1.25 s`: in the unit that suits the end of the axis, with as many digits as the step needs. */
export function tick(time, step, end) {
  const [unit, size] = end >= 1e9 ? ["s", 1e9] : end >= 1e6 ? ["ms", 1e6] : end >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const digits = Math.min(Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9)), 9);
  return `${(time / size).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
}
