// A curve of the program, what its runs differ among themselves as a band around it, and the curve of the clone.

import { clear, h, s } from "./dom.js";
import { roundStep } from "./format.js";

const CURVE_FRAME = { left: 66, right: 14, top: 10, bottom: 30 };

/** Long ranges are drawn logarithmically, on both sides of 0. */
function squash(value) {
  return Math.sign(value) * Math.log10(1 + Math.abs(value));
}

/** Round numbers between two values: 1, 10, 100 where the axis is logarithmic. */
function curveTicks(from, to, logarithmic, most, least = 0) {
  if (!logarithmic) {
    const step = Math.max(roundStep(Math.max(to - from, 1e-9), most), least);
    const ticks = [];
    for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-6; at += step) ticks.push(at);
    return ticks;
  }
  const powers = [0];
  for (let power = 1; power <= Math.max(Math.abs(from), Math.abs(to)); power *= 10) powers.push(power);
  const all = [
    ...powers
      .slice(1)
      .reverse()
      .map((power) => -power),
    ...powers,
  ].filter((value) => value >= from && value <= to);
  const every = Math.ceil(all.length / most);
  return all.filter((_, place) => place % every === 0);
}

export class CurveChart {
  /**
   * about: { id, title, says, xs: where each value begins, end: where the last one ends, xText, yText, top: largest y or null,
   * curves: { low, program, high, clone }, banded: whether there are several runs of the program, height, xLabel }
   */
  constructor(about, root) {
    this.about = about;
    const { low, high, program, clone } = about.curves;
    this.logarithmic = !about.linear && about.end - Math.min(...about.xs) > 400;
    const largest = [...high, ...program, ...clone].reduce((most, value) => Math.max(most, value ?? 0), 0);
    this.top = about.top ?? (largest > 0 ? largest * 1.05 : 1);
    this.from = Math.min(...about.xs);
    this.to = Math.max(about.end, this.from + 1e-9);
    this.empty = [...low, ...clone].every((value) => value === null);
    this.svg = s("svg", {
      class: "chart curve-chart",
      id: about.id,
      role: "application",
      tabindex: "0",
      onkeydown: (event) => this.key(event),
      style: { height: `${about.height}px` },
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.frame = h("div", { class: "chart-frame" }, this.svg, this.tip);
    root.append(
      h(
        "figure",
        { class: "curve" },
        h("h4", null, about.title),
        h("figcaption", { class: "status" }, about.says),
        this.empty ? h("p", { class: "status" }, "Neither has a value.") : this.frame,
      ),
    );
    if (this.empty) return;
    this.svg.addEventListener("pointermove", (event) => {
      const box = this.svg.getBoundingClientRect();
      this.point(this.indexAt(event.clientX - box.left));
    });
    this.svg.addEventListener("pointerleave", () => this.leave());
    this.svg.addEventListener("blur", () => this.leave());
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  scale(value) {
    return this.logarithmic ? squash(value) : value;
  }

  x(value) {
    const [from, to] = [this.scale(this.from), this.scale(this.to)];
    const inner = this.width - CURVE_FRAME.left - CURVE_FRAME.right;
    return CURVE_FRAME.left + (inner * (this.scale(value) - from)) / (to - from || 1);
  }

  y(value) {
    const inner = this.about.height - CURVE_FRAME.top - CURVE_FRAME.bottom;
    return CURVE_FRAME.top + inner * (1 - value / this.top);
  }

  /** Where the value of that index ends. */
  endOf(index) {
    return this.about.xs[index + 1] ?? this.about.end;
  }

  indexAt(x) {
    const { xs } = this.about;
    let index = 0;
    while (index + 1 < xs.length && this.x(xs[index + 1]) <= x) index += 1;
    return index;
  }

  /** Steps, broken where there is no value. */
  line(values) {
    let [path, pen] = ["", false];
    values.forEach((value, index) => {
      if (value === null) pen = false;
      else {
        const [left, right] = [this.x(this.about.xs[index]).toFixed(1), this.x(this.endOf(index)).toFixed(1)];
        path += `${pen ? "L" : "M"}${left} ${this.y(value).toFixed(1)}H${right}`;
        pen = true;
      }
    });
    return path;
  }

  band() {
    const { low, high } = this.about.curves;
    let [path, up, down] = ["", "", ""];
    const close = () => {
      if (up) path += `${up}${down}Z`;
      [up, down] = ["", ""];
    };
    low.forEach((value, index) => {
      if (value === null) return close();
      const [left, right] = [this.x(this.about.xs[index]).toFixed(1), this.x(this.endOf(index)).toFixed(1)];
      up += `${up ? "L" : "M"}${left} ${this.y(high[index]).toFixed(1)}H${right}`;
      down = `L${right} ${this.y(value).toFixed(1)}H${left}${down}`;
    });
    close();
    return path;
  }

  draw() {
    this.width = this.svg.clientWidth;
    if (this.width === 0) return;
    const { about } = this;
    clear(this.svg).setAttribute("viewBox", `0 0 ${this.width} ${about.height}`);
    const axes = s("g", { class: "axes" });
    for (const value of curveTicks(0, this.top, false, 4)) {
      const at = this.y(value).toFixed(1);
      axes.append(
        s("path", { d: `M${CURVE_FRAME.left} ${at}H${this.width - CURVE_FRAME.right}` }),
        s(
          "text",
          { x: CURVE_FRAME.left - 6, y: at, "text-anchor": "end", "dominant-baseline": "central" },
          about.yText(value),
        ),
      );
    }
    const most = Math.max(Math.floor((this.width - CURVE_FRAME.left) / 84), 2);
    const ticks = curveTicks(this.from, this.to, this.logarithmic, most, 1);
    ticks.forEach((value) => {
      const at = this.x(value);
      const anchor = at > this.width - 40 ? "end" : at < CURVE_FRAME.left + 20 ? "start" : "middle";
      const x = anchor === "end" ? Math.min(at, this.width - 2) : at;
      axes.append(
        s("path", { d: `M${at.toFixed(1)} ${about.height - CURVE_FRAME.bottom}v4` }),
        s(
          "text",
          { x: x.toFixed(1), y: about.height - CURVE_FRAME.bottom + 17, "text-anchor": anchor },
          about.xText(value),
        ),
      );
    });
    this.svg.append(axes);
    if (about.banded) this.svg.append(s("path", { d: this.band(), class: "curve-band" }));
    this.svg.append(
      s("path", { d: this.line(about.curves.program), class: "curve-program" }),
      s("path", { d: this.line(about.curves.clone), class: "curve-clone" }),
    );
    this.cursor = s("g", { class: "cursor" });
    this.svg.append(this.cursor);
    this.svg.setAttribute("aria-label", `${about.title}. ${about.says} Arrow keys read the values.`);
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    this.point(Math.min(Math.max((this.index ?? -1) + step, 0), this.about.xs.length - 1));
    event.preventDefault();
  }

  leave() {
    this.tip.hidden = true;
    if (this.cursor) clear(this.cursor);
  }

  point(index) {
    this.index = index;
    const { about } = this;
    const { low, program, high, clone } = about.curves;
    const at = this.x(about.xs[index]);
    clear(this.cursor).append(
      s("path", { d: `M${at.toFixed(1)} ${CURVE_FRAME.top}V${about.height - CURVE_FRAME.bottom}` }),
    );
    const said = (value) => (value === null ? "–" : about.yText(value));
    const range = about.banded && low[index] !== null ? ` (${said(low[index])} to ${said(high[index])})` : "";
    clear(this.tip).append(
      h("b", null, `${about.xLabel ?? ""}${about.xText(about.xs[index])}`),
      h("div", null, h("i", { class: "swatch curve-key-program" }), `program ${said(program[index])}${range}`),
      h("div", null, h("i", { class: "swatch curve-key-clone" }), `clone ${said(clone[index])}`),
    );
    this.tip.hidden = false;
    const left = at + 16 + this.tip.offsetWidth > this.width ? at - this.tip.offsetWidth - 12 : at + 12;
    this.tip.style.transform = `translate(${Math.max(left, 0)}px, ${CURVE_FRAME.top}px)`;
  }
}

/** What the lines are. */
export function curveLegend(banded) {
  const line = (type, text) =>
    h(
      "span",
      { class: "key" },
      s(
        "svg",
        { width: "30", height: "12", class: "chart curve-sample", "aria-hidden": "true" },
        s("path", { d: "M1 6H29", class: type }),
      ),
      text,
    );
  return h(
    "div",
    { class: "legend" },
    line("curve-program", banded ? "the program, mean of its runs" : "the program"),
    banded
      ? h(
          "span",
          { class: "key" },
          h("i", { class: "swatch curve-key-band", "aria-hidden": "true" }),
          "from the least to the most of its runs: its noise",
        )
      : null,
    line("curve-clone", "the clone"),
  );
}
