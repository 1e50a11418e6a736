// What the representative of a group does, request by request: sessions of files over the path (PIONEER, figure 2).

import { clear, h, s, shorten, visible } from "./dom.js";
import { count, plural, roundStep } from "./format.js";

const PATH_ROW = 20;
const PATH_WORDS = {
  open: "opens",
  read: "reads",
  write: "writes",
  close: "closes",
  other: "another request through the open file",
  named: "a call that names the file",
};

export class PathChart {
  /** side: what is drawn; label: whose it is; span: positions that the axis has. */
  constructor(id, label, root) {
    this.label = label;
    this.svg = s("svg", { class: "chart path-chart", id });
    this.tip = h("div", { class: "tip", hidden: true });
    this.status = h("p", { class: "status" });
    root.append(h("h4", null, label), h("div", { class: "chart-frame" }, this.svg, this.tip), this.status);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => (this.tip.hidden = true));
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  show(path, span) {
    this.path = path;
    this.span = span;
    this.draw();
  }

  draw() {
    const { path, span } = this;
    this.width = this.svg.clientWidth;
    if (this.width === 0 || span === undefined) return;
    clear(this.svg);
    if (!path) {
      this.svg.style.setProperty("height", "0");
      this.status.textContent = "There is no such group.";
      return;
    }
    const requests = path.requests.slice(0, span);
    const shown = [...new Set(requests.map(({ file }) => file))].sort((a, b) => (a ?? 1e9) - (b ?? 1e9));
    const row = new Map(shown.map((file, place) => [file, place]));
    this.row = row;
    this.left = Math.min(Math.max(this.width * 0.24, 96), 280);
    const height = shown.length * PATH_ROW + 30;
    this.svg.style.setProperty("height", `${height}px`);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.unit = (this.width - this.left - 12) / Math.max(span, 1);
    const x = (place) => this.left + this.unit * (place + 0.5);
    const y = (file) => 4 + row.get(file) * PATH_ROW + PATH_ROW / 2;
    this.ground(shown, height, span, x);
    this.sessions(requests, x, y);
    const marks = { read: "", write: "", named: "", other: "" };
    const half = Math.min(Math.max(this.unit / 2 - 0.5, 0.6), 4);
    requests.forEach(({ file, deed }, place) => {
      const [cx, cy] = [x(place), y(file)];
      if (deed === "read" || deed === "write")
        marks[deed] += `M${(cx - half).toFixed(1)} ${cy - 5}h${(2 * half).toFixed(1)}v10h${(-2 * half).toFixed(1)}z`;
      else if (deed === "named") marks.named += `M${cx.toFixed(1)} ${cy - 5}l4 5l-4 5l-4 -5z`;
      else marks.other += `M${cx.toFixed(1)} ${cy - 6}v12`;
    });
    for (const [deed, d] of Object.entries(marks)) if (d) this.svg.append(s("path", { d, class: `deed-${deed}` }));
    const hidden = path.requests_in_all - requests.length;
    this.status.textContent = `${plural(requests.length, "request")} of rank ${path.rank}${hidden > 0 ? `, the first of ${count(path.requests_in_all)}` : ""}, on ${plural(shown.length, "row")}.`;
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("aria-label", `${this.label}: ${this.status.textContent}`);
  }

  ground(shown, height, span, x) {
    const axes = s("g", { class: "axes" });
    const characters = Math.floor((this.left - 12) / 6.2);
    shown.forEach((file, place) => {
      const at = 4 + place * PATH_ROW + PATH_ROW / 2;
      const about = file === null ? null : this.path.files[file];
      const text = about ? visible(about.name) : "other files";
      axes.append(
        s("path", { d: `M${this.left} ${at}H${this.width - 12}` }),
        s(
          "text",
          { x: this.left - 8, y: at, "text-anchor": "end", "dominant-baseline": "central" },
          s("title", null, about ? `${text} (${about.class})` : text),
          shorten(text, characters),
        ),
      );
    });
    const step = Math.max(roundStep(span, Math.max(this.width / 110, 2)), 1);
    for (let place = 0; place < span; place += step) {
      const number = place === 0 ? 1 : place;
      const at = x(number - 1);
      axes.append(s("text", { x: at.toFixed(1), y: height - 6, "text-anchor": "middle" }, count(number)));
    }
    this.svg.append(axes);
  }

  /** A bar from the first to the last request of each session. */
  sessions(requests, x, y) {
    const bars = new Map();
    requests.forEach(({ file, session }, place) => {
      if (session === null) return;
      const bar = bars.get(session) ?? { file, from: place, to: place };
      bar.to = place;
      bars.set(session, bar);
    });
    for (const { file, from, to } of bars.values())
      this.svg.append(
        s("rect", {
          class: "session",
          x: (x(from) - this.unit / 2).toFixed(1),
          width: Math.max(x(to) - x(from) + this.unit, 1.5).toFixed(1),
          y: y(file) - 7,
          height: 14,
          rx: 3,
        }),
      );
  }

  point(event) {
    const box = this.svg.getBoundingClientRect();
    const place = Math.floor((event.clientX - box.left - this.left) / this.unit);
    const request = place >= 0 ? this.path?.requests.slice(0, this.span)[place] : undefined;
    if (!request) {
      this.tip.hidden = true;
      return;
    }
    const file = request.file === null ? null : this.path.files[request.file];
    clear(this.tip).append(
      h("b", null, `request ${count(place + 1)} of rank ${this.path.rank}: ${PATH_WORDS[request.deed]}`),
      h("div", null, file ? `${visible(file.name)} (${file.class})` : "another file"),
      h("div", null, request.session === null ? "in no session" : `session ${count(request.session + 1)} of this path`),
    );
    this.tip.hidden = false;
    const at = event.clientX - box.left;
    const left = at + 16 + this.tip.offsetWidth > this.width ? at - this.tip.offsetWidth - 12 : at + 12;
    this.tip.style.transform = `translate(${Math.max(left, 0)}px, ${Math.max(event.clientY - box.top - 30, 0)}px)`;
  }
}

/** What the marks are. */
export function pathLegend() {
  const mark = (type, d, text) =>
    h(
      "span",
      { class: "key" },
      s("svg", { width: "16", height: "14", class: "chart", "aria-hidden": "true" }, s("path", { d, class: type })),
      text,
    );
  return h(
    "div",
    { class: "legend" },
    mark("session-key", "M1 1h14v12h-14z", "a session, from open to close"),
    mark("deed-read", "M5 2h6v10h-6z", "read"),
    mark("deed-write", "M5 2h6v10h-6z", "write"),
    mark("deed-other", "M8 1v12", "open, close, sync, …"),
    mark("deed-named", "M8 1l5 6l-5 6l-5 -6z", "a call that names the file"),
  );
}
