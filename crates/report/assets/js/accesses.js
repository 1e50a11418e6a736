// The accesses to a file: position over time, by call, with the runs that could be one and the calls that are in the way.

import { choice, clear, h, s, shorten, visible } from "./dom.js";
import { bytes, count, duration, plural, roundStep } from "./format.js";
import { GROUP_COLOURS } from "./colour.js";
import { tick } from "./timeline.js";
import { ZoomView } from "./zoom.js";

const POSITIONS = { height: 340, left: 74, right: 16, top: 14, bottom: 28, mark: 4, near: 16, crowd: 120 };
const DOES = ["read", "write", "seek", "may read any byte", "may write any byte"];
/** What became of a pair: its category and why. */
export const PAIRS = [
  ["", ""],
  ["1", "nothing in between"],
  ["2", "nothing in the way"],
  ["0", "a write in between"],
  ["0", "a read in between"],
  ["0", "a seek in between"],
  ["3", "something with an unknown effect in between"],
];
/** Marks of open files around a place, by their number; further ones share the last. */
const MARKS = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => `M${x} ${y - r * 1.2}l${r * 1.2} ${r * 2.2}h${-r * 2.4}z`,
  (x, y, r) => `M${x} ${y - r * 1.4}l${r * 1.4} ${r * 1.4}l${-r * 1.4} ${r * 1.4}l${-r * 1.4} ${-r * 1.4}z`,
  (x, y, r) => `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x - r} ${y + r}l${2 * r} ${-2 * r}`,
];

/** Names of calls, those that most accesses have first: a call has one colour whatever file it is in. */
export function callsByNumber(files) {
  const numbers = new Map();
  for (const { a: rows, calls } of files)
    for (const row of rows) numbers.set(calls[row[4]], (numbers.get(calls[row[4]]) ?? 0) + 1);
  return [...numbers].sort(([a, x], [b, y]) => y - x || a - b).map(([call]) => call);
}

/** Named access to the rows of a file; `order` is of `callsByNumber`. */
export function loadAccesses(data, { a: rows, calls, who, stops }, order) {
  let [start, end] = [0, 0];
  const list = rows.map(([after, took, jump, size, call, by, open, run, member, code], index) => {
    start += after;
    const low = jump === null ? null : end + jump;
    const moves = code % 5 === 2;
    const high = low === null ? null : size >= 0 ? low + size : moves ? low : null;
    if (low !== null) end = high ?? low;
    return {
      index,
      start,
      took: took < 0 ? null : took,
      low,
      high,
      size: size < 0 ? null : size,
      call: data.text(calls[call]),
      colour: order.indexOf(calls[call]),
      case: data.text(who[by][0]),
      pid: who[by][1],
      open,
      run,
      member,
      does: code % 5,
      pair: Math.floor(code / 5),
      stop: null,
    };
  });
  for (const [at, words, by, other] of stops)
    list[at].stop = {
      words: data.text(words),
      by:
        by >= 0
          ? list[by]
          : {
              index: null,
              call: data.text(other[0]),
              pid: other[1],
              start: other[2],
              took: null,
              low: other[3],
              high: other[3] === null || other[4] === null ? null : other[3] + other[4],
              size: other[4],
            },
    };
  return list;
}

/** Which bytes, in words. */
export function bytesOf({ low, size, does }) {
  if (does === 2) return low === null ? "" : `to ${count(low)}`;
  if (low === null) return "";
  return size === null ? `all from ${count(low)} on` : `${bytes(size)} at ${count(low)}`;
}

/** Who, when, which bytes. */
export function callText(access) {
  const where = bytesOf(access);
  return `${visible(access.call)} of process ${access.pid} at +${duration(access.start)}${where ? `, ${where}` : ""}`;
}

const colourOf = (number) => GROUP_COLOURS[Math.min(number, GROUP_COLOURS.length - 1)];
const markOf = (access) => Math.min(Math.max(access.open - 1, 0), MARKS.length - 1);
/** The last mark has no inside. */
const shapeOf = (access) => (markOf(access) === MARKS.length - 1 ? "shape line" : "shape");

export class AccessView extends ZoomView {
  /** `list` is of `loadAccesses`; `file` is what the page's data has. */
  constructor(data, file, list, root) {
    super();
    Object.assign(this, { data, file, list, at: null, by: "time" });
    this.build(root);
    this.all();
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.svg.parentElement);
  }

  /** Where an access lies along the picture, in its unit. */
  along(access) {
    if (this.by === "time") return access.start;
    if (access.index !== null) return access.index;
    // A call that is no access lies between two.
    return this.list.filter((one) => one.start <= access.start).length - 0.5;
  }

  build(root) {
    const button = (text, label, action) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    const runs = Object.fromEntries(
      this.file.runs.map(([number, shape, calls, moved]) => [
        number,
        `run ${count(number)}: ${count(calls)} ${shape}, ${bytes(moved)}`,
      ]),
    );
    this.svg = s("svg", {
      class: "chart positions",
      role: "application",
      tabindex: "0",
      onkeydown: (event) => this.key(event),
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.told = h("p", { class: "unseen", role: "status" });
    root.append(
      h(
        "div",
        { class: "toolbar" },
        choice("Across", { time: "time", order: "order of the accesses" }, this.by, (value) => {
          this.by = value;
          this.all();
        }),
        this.file.runs.length > 0
          ? choice("Show", { 0: "all", ...runs }, "0", (value) => this.showRun(Number(value)))
          : null,
        h("span", { class: "spring" }),
        h(
          "div",
          { class: "group", role: "group", "aria-label": "Zoom in the accesses" },
          button("←", "Earlier", () => this.pan(-0.25)),
          button("→", "Later", () => this.pan(0.25)),
          button("+", "Zoom in", () => this.zoom(2)),
          button("−", "Zoom out", () => this.zoom(0.5)),
          button("All", "All accesses", () => this.all()),
        ),
      ),
      h("div", { class: "chart-frame" }, this.svg, this.tip),
      this.legend(),
      this.told,
      h(
        "p",
        { class: "status" },
        "Point at a mark, or walk with ← and →, for its call; ↓ and ↑ go to the next place where accesses are kept apart. Drag to move, Ctrl and wheel or + and − to zoom, 0 for all.",
      ),
    );
    this.pointer();
  }

  legend() {
    const numbers = (of) => {
      const found = new Map();
      for (const access of this.list) found.set(of(access), (found.get(of(access)) ?? 0) + 1);
      return [...found].sort(([a], [b]) => a - b);
    };
    const calls = numbers((access) => access.colour).map(([number, many]) => {
      const { call } = this.list.find((access) => access.colour === number);
      const swatch = h("i", { class: "swatch", "aria-hidden": "true", style: { background: colourOf(number) } });
      return h("span", { class: "key" }, h("span", null, swatch), `${visible(call)} ${count(many)}`);
    });
    const picture = (d, attributes) =>
      s("svg", { width: 14, height: 14, class: "positions", "aria-hidden": "true" }, s("path", { d, ...attributes }));
    const opened = numbers((access) => access.open).filter(([open]) => open > 0);
    const opens = MARKS.map((_, mark) => opened.filter(([open]) => markOf({ open }) === mark))
      .filter((same) => same.length > 0)
      .map((same) => {
        const [[open], ...further] = same;
        const owner = this.list.find((access) => access.open === open);
        const more = further.length > 0 ? ` and ${count(further.length)} further` : "";
        const all = same.reduce((sum, [, many]) => sum + many, 0);
        return h(
          "span",
          { class: "key" },
          picture(MARKS[markOf({ open })](7, 7, 4), { class: shapeOf({ open }) }),
          `open file ${count(open)} of process ${owner.pid}${more}: ${count(all)}`,
        );
      });
    return h(
      "div",
      { class: "legend" },
      calls,
      opens,
      h("span", { class: "key" }, picture("M0 7H14", { class: "run-line" }), "could be one access"),
      h("span", { class: "key" }, picture("M3 2V12M7 4L12 10M7 10L12 4", { class: "stopped" }), "kept apart"),
    );
  }

  all() {
    const ends = this.list.flatMap((access) => [
      this.along(access),
      this.by === "time" ? access.start + (access.took ?? 0) : access.index,
    ]);
    this.whole = this.around(Math.min(...ends), Math.max(...ends));
    this.range = [...this.whole];
    this.draw();
  }

  around(from, to) {
    const margin = Math.max((to - from) * 0.03, this.by === "time" ? 500 : 0.7);
    return [from - margin, to + margin];
  }

  showRun(number) {
    const members = this.list.filter((access) => access.run === number);
    if (members.length === 0) return this.all();
    const last = members.at(-1);
    const places = [members[0], last, last.stop?.by].filter(Boolean).map((access) => this.along(access));
    this.range = this.around(Math.min(...places), Math.max(...places) + (this.by === "time" ? (last.took ?? 0) : 0));
    this.draw();
  }

  least() {
    return this.by === "time" ? 20 : 2;
  }

  isShown(access) {
    const at = this.along(access);
    const end = this.by === "time" ? at + (access.took ?? 0) : at;
    return end >= this.range[0] && at <= this.range[1];
  }

  draw() {
    const width = this.svg.parentElement.clientWidth;
    if (width === 0) return;
    this.width = width;
    const { height, left, right, top, bottom } = POSITIONS;
    this.shown = this.list.filter((access) => this.isShown(access));
    const placed = this.shown.filter((access) => access.low !== null);
    const low = placed.reduce((least, access) => Math.min(least, access.low), Infinity);
    const high = placed.reduce((most, access) => Math.max(most, access.high ?? access.low), -Infinity);
    const [from, to] = placed.length === 0 ? [0, 1] : low === high ? [low, low + 1] : [low, high];
    this.x = (at) => left + ((at - this.range[0]) / (this.range[1] - this.range[0])) * (width - left - right);
    this.y = (offset) => height - bottom - 6 - ((offset - from) / (to - from)) * (height - top - bottom - 12);
    clear(this.svg);
    this.svg.classList.toggle("crowded", this.shown.length > POSITIONS.crowd);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    const inside = s("svg", {
      x: left,
      y: 0,
      width: width - left - right,
      height,
      viewBox: `${left} 0 ${width - left - right} ${height}`,
    });
    this.front = s("g", { class: "front" });
    this.svg.append(this.axes(from, to), inside);
    inside.append(...this.lines(), ...this.shown.map((access) => this.mark(access)), ...this.stopMarks());
    this.svg.append(this.front);
    const stopped = this.list.filter((access) => access.stop).length;
    this.svg.setAttribute(
      "aria-label",
      `Position in the file over ${this.by === "time" ? "time" : "the order of accesses"}: ${plural(this.list.length, "access", "accesses")}, ${plural(this.file.runs.length, "run")} that could be one access each, ${plural(stopped, "place")} where accesses are kept apart. Arrow keys walk.`,
    );
    if (this.at) this.point(this.at);
  }

  axes(from, to) {
    const { height, left, right, top, bottom } = POSITIONS;
    const group = s(
      "g",
      { class: "axes" },
      s("path", { d: `M${left} ${top}V${height - bottom}H${this.width - right}` }),
    );
    const step = Math.max(roundStep(to - from, 5), 1);
    for (let offset = Math.ceil(from / step) * step; offset <= to; offset += step) {
      const y = this.y(offset).toFixed(1);
      group.append(
        s("path", { d: `M${left} ${y}H${this.width - right}`, class: "grid" }),
        s(
          "text",
          { x: left - 6, y, "text-anchor": "end", "dominant-baseline": "central" },
          this.offsetText(offset, step),
        ),
      );
    }
    const span = this.range[1] - this.range[0];
    const along = Math.max(roundStep(span, Math.max((this.width - left - right) / 110, 2)), this.by === "time" ? 0 : 1);
    for (let at = Math.ceil(this.range[0] / along) * along; at <= this.range[1]; at += along) {
      const x = this.x(at);
      if (x > this.width - 30 || x < left) continue;
      const text = this.by === "time" ? tick(at || 0, along, Math.max(this.range[1], 1)) : `#${count(at + 1)}`;
      group.append(s("text", { x: x.toFixed(1), y: height - 9, "text-anchor": "middle" }, text));
    }
    return group;
  }

  /** An offset with as many digits as the step needs. */
  offsetText(offset, step) {
    const [unit, size] = [
      ["GB", 1e9],
      ["MB", 1e6],
      ["kB", 1e3],
    ].find(([, one]) => step >= one) ?? ["B", 1];
    return `${count(offset / size)} ${unit}`;
  }

  /** The marks of a run, joined: through what the page does not have by a broken line. */
  lines() {
    const runs = new Map();
    for (const access of this.list) if (access.run > 0) runs.set(access.run, [...(runs.get(access.run) ?? []), access]);
    return [...runs.values()].flatMap((members) => {
      const paths = { whole: "", broken: "" };
      members.slice(1).forEach((access, place) => {
        const before = members[place];
        if (!this.isShown(access) && !this.isShown(before)) return;
        const [a, b] = [this.centre(before), this.centre(access)];
        const kind = access.member === before.member + 1 ? "whole" : "broken";
        paths[kind] += `M${a.map((at) => at.toFixed(1)).join(" ")}L${b.map((at) => at.toFixed(1)).join(" ")}`;
      });
      return ["whole", "broken"]
        .filter((kind) => paths[kind])
        .map((kind) => s("path", { class: `run-line ${kind}`, d: paths[kind] }));
    });
  }

  /** The middle of a mark. What may touch any byte has it in the middle of the picture. */
  centre(access) {
    const { height, top, bottom } = POSITIONS;
    const at = this.along(access);
    const x = this.x(this.by === "time" ? at + (access.took ?? 0) / 2 : at);
    if (access.low === null || access.low === undefined) return [x, (top + height - bottom) / 2];
    return [x, (this.y(access.low) + this.y(access.high ?? access.low)) / 2];
  }

  mark(access) {
    const { height, top, bottom, mark } = POSITIONS;
    const [x, y] = this.centre(access);
    const colour = colourOf(access.colour);
    const group = s("g", { class: "access", style: { "--call": colour } });
    const [from, to] =
      access.low === null
        ? [height - bottom, top]
        : [this.y(access.low), access.high === null ? top : this.y(access.high)];
    const wide = this.by === "time" ? this.x(access.start + (access.took ?? 0)) - this.x(access.start) : 0;
    if (from - to > 2 * mark || wide > 2 * mark)
      group.append(
        s("rect", {
          class: access.high === null && access.does !== 2 ? "reach open-end" : "reach",
          x: (x - Math.max(wide, 2) / 2).toFixed(1),
          y: to.toFixed(1),
          width: Math.max(wide, 2).toFixed(1),
          height: Math.max(from - to, 2).toFixed(1),
        }),
      );
    group.append(
      s("path", {
        class: shapeOf(access),
        d: MARKS[markOf(access)](x, y, mark),
      }),
    );
    return group;
  }

  /** Where the next access may not join. */
  stopMarks() {
    return this.shown
      .filter((access) => access.stop)
      .map((access) => {
        const [x, y] = this.centre(access);
        return s("path", {
          class: access.run > 0 ? "stopped" : "stopped alone",
          "data-access": access.index,
          d: `M${x + 7} ${y - 6}v12M${x + 10} ${y - 4}l6 8m-6 0l6 -8`,
        });
      });
  }

  /** Shows an access, in words and in the picture, with what is in its way. */
  point(access) {
    this.at = access;
    clear(this.front);
    this.tip.hidden = !access;
    if (!access) return;
    const [x, y] = this.centre(access);
    const ring = (at, kind) => s("circle", { class: kind, cx: at[0].toFixed(1), cy: at[1].toFixed(1), r: 9 });
    this.front.append(ring([x, y], "chosen"));
    const { stop } = access;
    if (stop) this.front.append(...this.blocker([x, y], stop.by, ring));
    const lines = this.words(access);
    clear(this.tip).append(h("b", null, lines[0]), ...lines.slice(1).map((line) => h("div", null, line)));
    if (stop)
      this.tip.append(
        h(
          "div",
          { class: "in-the-way" },
          h("b", null, "Kept apart from the next one: "),
          stop.words,
          h("br"),
          callText(stop.by),
        ),
      );
    this.told.textContent = this.tip.textContent;
    const left = x + 18 + this.tip.offsetWidth > this.width ? x - this.tip.offsetWidth - 18 : x + 18;
    this.tip.style.transform = `translate(${Math.max(left, 0).toFixed(0)}px, ${Math.max(y - 30, 0).toFixed(0)}px)`;
  }

  /** Marks the call that is in the way; a call that is no access, or may touch any byte, is a line from top to bottom. */
  blocker(from, by, ring) {
    const { height, top, bottom, left, right } = POSITIONS;
    const at = this.centre(by);
    const edge = Math.min(Math.max(at[0], left), this.width - right);
    const line = (d) => s("path", { class: "to-blocker", d });
    if (by.index === null || by.low === null) return [line(`M${edge.toFixed(1)} ${top}V${height - bottom}`)];
    if (edge !== at[0]) return [line(`M${from.join(" ")}L${edge.toFixed(1)} ${at[1].toFixed(1)}`)];
    return [line(`M${from.join(" ")}L${at.join(" ")}`), ring(at, "blocker")];
  }

  words(access) {
    const { size, took, run, member, pair, open } = access;
    const of = this.file.runs.find(([number]) => number === run);
    return [
      callText(access),
      [
        size === null && access.does !== 2 ? DOES[access.does] : null,
        took === null ? "end not known" : `took ${duration(took)}`,
        open > 0 ? `open file ${count(open)}` : null,
        shorten(visible(access.case), 40),
      ]
        .filter(Boolean)
        .join(", "),
      run > 0 ? `Run ${count(run)}: access ${count(member)} of ${count(of[2])} that could be one` : "In no run",
      pair > 0 ? `Pair with the access before: category ${PAIRS[pair][0]}, ${PAIRS[pair][1]}` : null,
    ].filter(Boolean);
  }

  key(event) {
    const step = (places, by) => {
      const now = this.at?.index ?? -1;
      const next = by > 0 ? places.find(({ index }) => index > now) : places.findLast(({ index }) => index < now);
      const found = next ?? (by > 0 ? places.at(-1) : places[0]);
      if (found) this.show(found);
    };
    const stops = () => this.list.filter((access) => access.stop);
    const actions = {
      ArrowRight: () => step(this.list, 1),
      ArrowLeft: () => step(this.list, -1),
      ArrowDown: () => step(stops(), 1),
      ArrowUp: () => step(stops(), -1),
      "+": () => this.zoom(1.5),
      "=": () => this.zoom(1.5),
      "-": () => this.zoom(1 / 1.5),
      0: () => this.all(),
      Escape: () => this.point(null),
    };
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  }

  /** Points at an access, wherever it is. */
  show(access) {
    this.at = access;
    const at = this.along(access);
    const span = this.range[1] - this.range[0];
    if (at < this.range[0] || at > this.range[1]) this.place(at - span / 2, span);
    else this.point(access);
  }

  pointer() {
    const { svg } = this;
    let held = null;
    const place = (event) => {
      const frame = svg.getBoundingClientRect();
      return [event.clientX - frame.left, event.clientY - frame.top];
    };
    const at = (event) => {
      const { left, right } = POSITIONS;
      return this.range[0] + ((place(event)[0] - left) / (this.width - left - right)) * (this.range[1] - this.range[0]);
    };
    svg.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * 0.004), at(event));
      },
      { passive: false },
    );
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      held = { at: at(event), x: event.clientX, moves: false };
    });
    svg.addEventListener("pointermove", (event) => {
      if (held && !held.moves && Math.abs(event.clientX - held.x) > 4) {
        held.moves = true;
        svg.setPointerCapture(event.pointerId);
        this.point(null);
      }
      if (held?.moves) this.place(this.range[0] + held.at - at(event), this.range[1] - this.range[0]);
      else this.hover(place(event));
    });
    for (const kind of ["pointerup", "pointercancel"])
      svg.addEventListener(kind, () => {
        held = null;
      });
    svg.addEventListener("pointerleave", () => this.point(null));
  }

  /** The access next to a place; of two one above the other the one that is kept apart. */
  hover([x, y]) {
    const distance = (access) => {
      const [a, b] = this.centre(access);
      return Math.hypot(a - x, b - y) - (access.stop ? 1 : 0);
    };
    const nearest = this.shown.reduce(
      (best, access) => {
        const away = distance(access);
        return away < best.away ? { access, away } : best;
      },
      { access: null, away: POSITIONS.near },
    );
    this.point(nearest.access);
  }

  /** Ends before another one takes its place. */
  end() {
    this.watch.disconnect();
  }
}
