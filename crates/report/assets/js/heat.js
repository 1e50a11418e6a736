// Ranks, or groups of processes where there is one rank, over time: the more a cell moved or did, the darker.

import { clear, h, shorten, visible } from "./dom.js";
import { duration, plural, roundStep } from "./format.js";
import { css, shade } from "./colour.js";
import { MEASURED, measureChoice, mostMoved, unpack } from "./throughput.js";
import { tick } from "./timeline.js";

const HEAT = { least: 4, most: 22, right: 14, bottom: 26 };

export class HeatMap {
  /** `part` is the window of time that dragging chooses, if there is one. */
  constructor(data, root, part) {
    this.data = data;
    this.part = part;
    const { groups, ranks } = data.workflow.throughput;
    const several = ranks.rows.list.length > 1;
    this.table = several ? ranks : groups;
    this.noun = several ? "rank" : "process group";
    this.measure = mostMoved(this.table.rows.list);
    this.canvas = h("canvas", { id: "rank-canvas", class: "chart", role: "img" });
    this.tip = h("div", { class: "tip", hidden: true });
    this.note = h("p", { class: "status", id: "rank-status" });
    root.append(
      h("h3", null, several ? "Ranks over time" : "Process groups over time"),
      h("div", { class: "toolbar" }, measureChoice(this), part ? part.controls() : null),
      this.note,
      h("div", { class: "chart-frame" }, this.canvas, this.tip),
    );
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
    if (part) {
      this.brush();
      part.listen(() => this.draw());
    }
    this.draw();
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
  }

  draw() {
    const { list, more } = this.table.rows;
    const { bins, bin_ns: binNs } = this.table;
    const width = this.canvas.parentElement.clientWidth;
    if (width === 0) return;
    const about = MEASURED[this.measure];
    this.rows = list.map((row) => ({ name: this.data.text(row[0]), bins: unpack(row[about.at], bins) }));
    const most = Math.max(...this.rows.map((row) => Math.max(...row.bins)), 1);
    const rowHeight = Math.max(HEAT.least, Math.min(HEAT.most, 420 / list.length));
    const height = Math.ceil(rowHeight * list.length + HEAT.bottom);
    const density = devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = [Math.round(width * density), Math.round(height * density)];
    this.canvas.style.height = `${height}px`;
    const c = this.canvas.getContext("2d");
    c.scale(density, density);
    const style = getComputedStyle(document.documentElement);
    const colour = (token) => style.getPropertyValue(token).trim();
    c.font = `11px ${colour("--sans")}`;
    c.textBaseline = "middle";
    const label = (row) => shorten(visible(row.name), 22);
    const widest = Math.max(...this.rows.map((row) => c.measureText(label(row)).width));
    const left = Math.min(Math.max(widest + 14, 40), width / 3);
    const inner = width - left - HEAT.right;
    this.frame = { rowHeight, width, left, inner };
    const cell = inner / bins;
    const every = Math.ceil(13 / rowHeight);
    this.rows.forEach((row, at) => {
      const y = at * rowHeight;
      c.fillStyle = colour("--band");
      c.fillRect(left, y, inner, rowHeight - 0.5);
      row.bins.forEach((value, bin) => {
        if (value === 0) return;
        c.fillStyle = css(shade(0.08 + 0.92 * Math.sqrt(value / most)));
        c.fillRect(left + bin * cell, y, Math.max(cell, 0.7), rowHeight - 0.5);
      });
      if (at % every !== 0) return;
      c.fillStyle = colour("--muted");
      c.textAlign = "right";
      c.fillText(label(row), left - 6, y + (rowHeight * every) / 2, left - 8);
    });
    this.shadeOutside(c, colour);
    const along = roundStep(bins * binNs, Math.max(inner / 110, 2));
    c.fillStyle = colour("--muted");
    for (let time = 0; time <= bins * binNs; time += along) {
      const at = left + (time / binNs) * cell;
      c.textAlign = time === 0 ? "left" : at > width - 40 ? "right" : "center";
      c.fillText(tick(time, along, bins * binNs), Math.min(at, width - 2), list.length * rowHeight + 14);
    }
    const nothing = this.rows.every((row) => row.bins.every((value) => value === 0));
    this.note.textContent = nothing
      ? `No ${about.label}.`
      : `${this.part ? "Drag to look at a part of the time everywhere on this page. " : ""}${plural(list.length, this.noun)} by ${plural(bins, "bin")} of ${duration(binNs)}: the darker (in dark mode the lighter) a cell, the more ${about.label}; square-root scale up to ${about.moved(most)} in a bin.${more > 0 ? ` ${plural(more, this.noun)} with fewer bytes not in this file.` : ""}`;
    this.canvas.setAttribute("aria-label", `Heat map. ${this.note.textContent}`);
  }

  /** The time under the pointer, after the page's origin. */
  time(event) {
    const { left, inner } = this.frame;
    const share = (event.clientX - this.canvas.getBoundingClientRect().left - left) / inner;
    return this.table.from + share * this.table.bins * this.table.bin_ns;
  }

  /** Where a time lies in the picture. */
  across(time) {
    const { left, inner } = this.frame;
    const share = (time - this.table.from) / (this.table.bins * this.table.bin_ns);
    return left + Math.min(Math.max(share, 0), 1) * inner;
  }

  /** Dragging chooses the window. */
  brush() {
    const { canvas, part } = this;
    canvas.classList.add("brush");
    let start = null;
    const end = (event) => {
      if (start === null) return;
      start = null;
      if (canvas.hasPointerCapture(event.pointerId)) canvas.releasePointerCapture(event.pointerId);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = event;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (start === null || Math.abs(event.clientX - start.clientX) < 4) return;
      const [from, to] = [this.time(start), this.time(event)].sort((a, b) => a - b).map((time) => part.at(time));
      part.set(from, to + 1);
    });
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
  }

  shadeOutside(c, colour) {
    if (!this.part || this.part.isWhole) return;
    const { left, inner, rowHeight } = this.frame;
    const [from, to] = this.part.span.map((time) => this.across(time));
    const height = rowHeight * this.rows.length;
    c.fillStyle = colour("--paper");
    c.globalAlpha = 0.72;
    c.fillRect(left, 0, from - left, height);
    c.fillRect(to, 0, left + inner - to, height);
    c.globalAlpha = 1;
    c.strokeStyle = colour("--accent");
    c.lineWidth = 2;
    c.strokeRect(from, 1, Math.max(to - from, 2), height - 2);
  }

  point(event) {
    const frame = this.canvas.getBoundingClientRect();
    const { rowHeight, width, left, inner } = this.frame;
    const row = this.rows[Math.floor((event.clientY - frame.top) / rowHeight)];
    const bin = Math.floor(((event.clientX - frame.left - left) / inner) * this.table.bins);
    this.tip.hidden = !row || bin < 0 || bin >= this.table.bins;
    if (this.tip.hidden) return;
    clear(this.tip).append(
      h("b", null, shorten(visible(row.name), 40)),
      h("div", null, `${MEASURED[this.measure].moved(row.bins[bin])} at +${duration(bin * this.table.bin_ns)}`),
    );
    const at = Math.min(event.clientX - frame.left + 14, width - this.tip.offsetWidth - 4);
    this.tip.style.transform = `translate(${Math.max(at, 0)}px, ${event.clientY - frame.top + 14}px)`;
  }
}
