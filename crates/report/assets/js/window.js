// A part of the time that a reader chose, and what the figures are in it.

import { byId, h } from "./dom.js";
import { duration } from "./format.js";
import { unpack } from "./throughput.js";

/** Sums before each slice, so that a window's sum is a difference. */
function sumsBefore(values, slices) {
  const sums = [0];
  for (const value of unpack(values ?? [], slices)) sums.push(sums[sums.length - 1] + value);
  return sums;
}

export class TimeWindow {
  /** Of the slices of `data`; the fields `from` and `to` are numbers of slices, `to` is not in it. */
  constructor(data) {
    this.data = data;
    this.slices = data.slices;
    this.listeners = [];
    const { count } = this.slices;
    [this.from, this.to] = [0, count];
    const lists = (rows) => rows.map((row) => row.map((values) => sumsBefore(values, count)));
    this.nodes = lists(this.slices.nodes);
    this.edges = this.slices.edges.map((values) => sumsBefore(values, count));
    this.files = lists(this.slices.files);
    this.groups = new Map(
      this.slices.groups.map(([id, ...values]) => [data.text(id), values.map((list) => sumsBefore(list, count))]),
    );
    this.words = h("span", { role: "status" });
    this.bar = h(
      "div",
      { class: "window-bar", id: "window-bar", hidden: true },
      this.words,
      h("button", { type: "button", onclick: () => this.set(0, count) }, "Whole run"),
    );
    document.body.append(this.bar);
  }

  /** Whether it is the whole run. */
  get isWhole() {
    return this.from === 0 && this.to === this.slices.count;
  }

  /** First and last ns of it, after the page's origin. */
  get span() {
    const { from, slice_ns: length } = this.slices;
    return [from + this.from * length, from + this.to * length];
  }

  /** The slice of a time after the page's origin. */
  at(time) {
    const { from, slice_ns: length, count } = this.slices;
    return Math.min(Math.max(Math.floor((time - from) / length), 0), count - 1);
  }

  set(from, to) {
    if (from === this.from && to === this.to) return;
    [this.from, this.to] = [from, Math.max(to, from + 1)];
    document.documentElement.classList.toggle("windowed", !this.isWhole);
    this.bar.hidden = this.isWhole;
    this.words.textContent = this.isWhole ? "" : `Shown: ${this.text()}`;
    this.listeners.forEach((listener) => listener());
  }

  /** Calls `listener` whenever another window is chosen. */
  listen(listener) {
    this.listeners.push(listener);
  }

  text() {
    const { slice_ns: length, count } = this.slices;
    const [from, to] = [this.from * length, this.to * length];
    return `+${duration(from)} to +${duration(to)} of ${duration(count * length)}`;
  }

  /** What a list of sums is in the window. */
  sum(sums) {
    return sums === undefined ? 0 : sums[this.to] - sums[this.from];
  }

  /** Bytes read, bytes written and calls of a group of processes. */
  ofGroup(name) {
    const [read, written, calls] = (this.groups.get(name) ?? [undefined, undefined, undefined]).map((sums) =>
      this.sum(sums),
    );
    return { read, written, calls };
  }

  /** Calls, I/O time, bytes read and bytes written of a file by its number in the list. */
  ofFile(index) {
    const [calls, io, read, written] = (this.files[index] ?? [undefined, undefined, undefined, undefined]).map((sums) =>
      this.sum(sums),
    );
    return { calls, io, read, written };
  }

  /** The data of the graph, with the figures of the window; what is not known of a part of the time is NULL. */
  graph() {
    const { data } = this;
    if (this.isWhole) return data;
    const figures = data.nodes.map((node) => {
      const [events, busy, bytes] = (this.nodes[node.index] ?? []).map((sums) => this.sum(sums));
      return { c: events ?? 0, t: node.t === null ? null : (busy ?? 0), b: bytes ?? 0 };
    });
    const mapped = figures.reduce((sum, { c }) => sum + c, 0);
    const time = data.totals.mapped_ns === null ? null : figures.reduce((sum, { t }) => sum + (t ?? 0), 0);
    const share = (t) => (t === null || time === null ? null : time > 0 ? t / time : 0);
    return Object.assign(Object.create(data), {
      nodes: data.nodes.map((node, index) => ({
        ...node,
        ...figures[index],
        rd: share(figures[index].t),
        r: null,
        m: null,
        absent: figures[index].c === 0 && !figures[index].t,
      })),
      edges: data.edges.map((edge) => {
        const count = this.sum(this.edges[edge.index]);
        return { ...edge, count, cases: null, mean: null, p50: null, p95: null, sum: null, absent: count === 0 };
      }),
      totals: { ...data.totals, mapped, mapped_ns: time },
      nodes_more: { nodes: 0, events: 0, duration_ns: time === null ? null : 0 },
      edges_more: { edges: 0, count: 0 },
      grouped: false,
    });
  }

  /** Two sliders that choose the window, for those who do not drag. */
  controls() {
    const { count, slice_ns: length } = this.slices;
    const slider = (id, label, choose) => {
      const text = h("output", { for: id });
      const input = h("input", {
        type: "range",
        id,
        min: 0,
        max: count,
        oninput: () => choose(Number(input.value)),
      });
      const show = (value) => {
        input.value = value;
        text.textContent = `+${duration(value * length)}`;
        input.setAttribute("aria-valuetext", text.textContent);
      };
      return { field: h("label", { class: "field slider", for: id }, h("span", null, `${label} `, text), input), show };
    };
    const from = slider("window-from", "Window from", (value) =>
      this.set(Math.min(value, count - 1), Math.max(this.to, Math.min(value, count - 1) + 1)),
    );
    const to = slider("window-to", "to", (value) =>
      this.set(Math.min(this.from, Math.max(value, 1) - 1), Math.max(value, 1)),
    );
    const show = () => {
      from.show(this.from);
      to.show(this.to);
    };
    show();
    this.listen(show);
    return [from.field, to.field];
  }
}

/** The window of a page, if its calls have times. */
export function timeWindow(data) {
  return data.slices && byId("heat-root") ? new TimeWindow(data) : null;
}
