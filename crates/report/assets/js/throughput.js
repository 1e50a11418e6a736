// Throughput over time: an area for each group.

import { choice, clear, h, s, shorten, visible } from "./dom.js";
import { bytes, count, duration, plural, rate, roundStep } from "./format.js";
import { groupOf, hue } from "./hues.js";
import { tick } from "./timeline.js";

export const MEASURED = {
  written: { label: "bytes written", at: 2, moved: bytes, speed: rate },
  read: { label: "bytes read", at: 1, moved: bytes, speed: rate },
  calls: { label: "calls", at: 3, moved: count, speed: (value) => `${count(value)}/s` },
};
const AREA = { height: 260, left: 84, right: 14, top: 10, bottom: 28 };

/** `-n` stands for n zeros. */
export function unpack(values, length) {
  const bins = [];
  for (const value of values) {
    if (value < 0) for (let left = -value; left > 0; left -= 1) bins.push(0);
    else bins.push(value);
  }
  while (bins.length < length) bins.push(0);
  return bins;
}

/** The measure that tells most of some rows: bytes if any were moved, else calls. */
export function mostMoved(rows) {
  const total = (key) =>
    rows.reduce((sum, row) => sum + unpack(row[MEASURED[key].at], 0).reduce((all, value) => all + value, 0), 0);
  const best = total("read") > total("written") ? "read" : "written";
  return total(best) > 0 ? best : "calls";
}

/** What a view shows: a list that sets its `measure`. */
export function measureChoice(view) {
  const labels = Object.fromEntries(Object.entries(MEASURED).map(([key, { label }]) => [key, label]));
  return choice("Measure", labels, view.measure, (value) => {
    view.measure = value;
    view.draw();
  });
}

export class ThroughputView {
  constructor(data, root, part) {
    this.data = data;
    this.part = part;
    this.groups = data.workflow.throughput.groups;
    this.measure = mostMoved(this.groups.rows.list);
    this.build(root);
    this.draw();
    new ResizeObserver(() => this.draw()).observe(this.area);
    part?.listen(() => this.draw());
  }

  build(root) {
    this.area = s("svg", {
      class: "chart",
      id: "throughput-chart",
      role: "application",
      tabindex: "0",
      onkeydown: (event) => this.key(event),
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.status = h("p", { class: "status", id: "throughput-status", role: "status" });
    this.legend = h("div", { class: "legend" });
    root.append(
      h("h3", null, "Throughput over time"),
      h("div", { class: "toolbar" }, measureChoice(this)),
      h("div", { class: "chart-frame" }, this.area, this.tip),
      this.legend,
      this.status,
    );
    this.area.addEventListener("pointermove", (event) => {
      const frame = this.area.getBoundingClientRect();
      this.point(
        Math.floor(
          ((event.clientX - frame.left - AREA.left) / (this.width - AREA.left - AREA.right)) * this.groups.bins,
        ),
        event.clientY - frame.top,
      );
    });
    this.area.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      clear(this.line);
    });
  }

  draw() {
    this.width = this.area.clientWidth;
    if (this.width === 0) return;
    this.rows = this.groups.rows.list
      .map((row) => ({
        name: this.data.text(row[0]),
        group: groupOf(this.data, this.data.text(row[0])),
        bins: unpack(row[MEASURED[this.measure].at], this.groups.bins),
      }))
      .filter((row) => row.bins.some((value) => value > 0));
    this.drawArea();
  }

  drawArea() {
    const { bins, bin_ns: binNs } = this.groups;
    const about = MEASURED[this.measure];
    const sums = Array.from({ length: bins }, (_, bin) => this.rows.reduce((sum, row) => sum + row.bins[bin], 0));
    const speed = (value) => (value * 1e9) / binNs;
    const most = Math.max(...sums, 1);
    const step = roundStep(speed(most), 4);
    const top = Math.ceil(speed(most) / step) * step;
    const x = (bin) => AREA.left + ((this.width - AREA.left - AREA.right) * bin) / bins;
    const y = (value) => AREA.height - AREA.bottom - (speed(value) / top) * (AREA.height - AREA.top - AREA.bottom);
    this.x = x;
    clear(this.area).setAttribute("viewBox", `0 0 ${this.width} ${AREA.height}`);
    const axes = s("g", { class: "axes" });
    for (let value = 0; value <= top * 1.0001; value += step) {
      const at = y((value * binNs) / 1e9).toFixed(1);
      axes.append(
        s("path", { d: `M${AREA.left} ${at}H${this.width - AREA.right}` }),
        s(
          "text",
          { x: AREA.left - 6, y: at, "text-anchor": "end", "dominant-baseline": "central" },
          about.speed(value),
        ),
      );
    }
    const span = bins * binNs;
    const along = roundStep(span, Math.max(this.width / 110, 2));
    for (let time = 0; time <= span; time += along)
      axes.append(
        s(
          "text",
          { x: Math.min(x(time / binNs), this.width - 30).toFixed(1), y: AREA.height - 9, "text-anchor": "middle" },
          tick(time, along, span),
        ),
      );
    this.area.append(axes);
    const base = new Array(bins).fill(0);
    for (const row of this.rows) {
      let [up, down] = ["", ""];
      row.bins.forEach((value, bin) => {
        const [left, right] = [x(bin).toFixed(1), x(bin + 1).toFixed(1)];
        up += `${bin === 0 ? "M" : "L"}${left} ${y(base[bin] + value).toFixed(1)}H${right}`;
        down = `L${right} ${y(base[bin]).toFixed(1)}H${left}${down}`;
        base[bin] += value;
      });
      this.area.append(s("path", { d: `${up}${down}Z`, class: "layer", style: { fill: hue(row.group) } }));
    }
    if (this.part && !this.part.isWhole) {
      const clamped = this.part.span.map((time) => x(Math.min(Math.max((time - this.groups.from) / binNs, 0), bins)));
      const [from, to] = clamped;
      const outside = (at, end) =>
        s("rect", {
          class: "outside",
          x: at,
          y: AREA.top,
          width: end - at,
          height: AREA.height - AREA.bottom - AREA.top,
        });
      this.area.append(outside(AREA.left, from), outside(to, this.width - AREA.right));
    }
    this.line = s("g", { class: "cursor" });
    this.area.append(this.line);
    clear(this.legend).append(
      ...this.rows.map((row) =>
        h(
          "span",
          { class: "key" },
          h("i", { class: "swatch", "aria-hidden": "true", style: { background: hue(row.group) } }),
          shorten(visible(row.name), 32),
        ),
      ),
    );
    const peak = sums.indexOf(most);
    const { more } = this.groups.rows;
    this.status.textContent = `${about.label[0].toUpperCase()}${about.label.slice(1)} by group, one above the other, in ${plural(bins, "bin")} of ${duration(binNs)}. Layer: system calls; the bytes of a call are spread evenly over the time that it took. Most: ${about.speed(speed(most))} at +${duration(peak * binNs)}.${more > 0 ? ` ${plural(more, "smaller group")} not in this file.` : ""}`;
    this.area.setAttribute("aria-label", `Throughput over time. ${this.status.textContent} Arrow keys read the bins.`);
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    this.bin = Math.min(Math.max((this.bin ?? -1) + step, 0), this.groups.bins - 1);
    this.point(this.bin, 40);
    event.preventDefault();
  }

  point(bin, y) {
    if (!(bin >= 0 && bin < this.groups.bins)) {
      this.tip.hidden = true;
      return;
    }
    const about = MEASURED[this.measure];
    const binNs = this.groups.bin_ns;
    clear(this.line).append(
      s("rect", {
        x: this.x(bin).toFixed(1),
        width: (this.x(bin + 1) - this.x(bin)).toFixed(1),
        y: AREA.top,
        height: AREA.height - AREA.top - AREA.bottom,
      }),
    );
    const rows = this.rows
      .map((row) => [row, row.bins[bin]])
      .filter(([, value]) => value > 0)
      .sort((a, b) => b[1] - a[1]);
    clear(this.tip).append(
      h("b", null, `+${duration(bin * binNs)} to +${duration((bin + 1) * binNs)}`),
      ...(rows.length === 0
        ? [h("div", null, "nothing")]
        : rows
            .slice(0, 9)
            .map(([row, value]) =>
              h(
                "div",
                null,
                h("i", { class: "swatch", "aria-hidden": "true", style: { background: hue(row.group) } }),
                `${shorten(visible(row.name), 28)} ${about.moved(value)}, ${about.speed((value * 1e9) / binNs)}`,
              ),
            )),
    );
    this.tip.hidden = false;
    const x = this.x(bin + 1);
    const left = x + 14 + this.tip.offsetWidth > this.width ? x - this.tip.offsetWidth - 24 : x + 10;
    this.tip.style.transform = `translate(${Math.max(left, 0)}px, ${Math.max(y - 20, 0)}px)`;
  }
}
