// The workflow DAG. Processes of one executable and files of one kind of name are one box until it is opened; an opened
// box makes room for its members by stretching the layout, so that everything keeps its order.

import { choice, clear, h, name, s, shorten, visible } from "./dom.js";
import { bytes, count, duration, percent, plural, rate } from "./format.js";
import { curve } from "./graph.js";
import { dot, groupName, hue, hueLegend } from "./hues.js";
import { figures } from "./panel.js";
import { Side } from "./side.js";
import { Stage } from "./stage.js";

const MOST_NODES = 300;
const MOST_MEMBERS = 120;
const MOST_EDGES = 700;
const MEMBER = { width: 138, height: 26, gap: 12, head: 30, pad: 14 };
const WIDTHS = { bytes: "bytes moved", slow: "time for a byte", calls: "number of transfers" };
const LISTED = 12;
/** A drawing that is smaller than this cannot be read. */
const READABLE = 0.7;
/** Pixels beside a drawing that is larger than the window. */
const EDGE = 16;

/** Named access to the rows of the data. */
function loadFlow(data) {
  const { groups, links, vertices, edges, relations } = data.workflow.flow;
  const known = (time) => (time < 0 ? null : time);
  const figure = ([from, to, relation, read, written, calls, elapsed]) => ({
    from,
    to,
    relation: relations[relation],
    read,
    written,
    calls,
    elapsed: known(elapsed),
    bytes: read + written,
  });
  return {
    groups: groups.map((group, index) => ({
      ...group,
      index,
      id: `g${index}`,
      members: [],
      name: data.text(group.n),
      whole: data.text(group.w),
    })),
    links: links.map((row, index) => ({
      ...figure(row),
      members: row[7],
      critical: row[8] === 1,
      route: row[9] || null,
      id: `l${index}`,
    })),
    vertices: vertices.map(([group, label, part, about, time, readers, writers, critical], index) => ({
      index,
      id: `v${index}`,
      group,
      name: data.text(label),
      part,
      about: about < 0 ? null : about,
      time: known(time),
      readers,
      writers,
      critical: critical === 1,
      bytes: 0,
    })),
    edges: edges.map((row, index) => ({ ...figure(row), members: 1, critical: row[7] === 1, index, id: `e${index}` })),
  };
}

function base(path) {
  return path.split("/").at(-1) || path;
}

export class Flow extends Stage {
  constructor(data, root, side, gantt) {
    super();
    Object.assign(
      this,
      { data, gantt, view: null, selected: null, query: "", width: "bytes", marked: true, opened: new Set() },
      loadFlow(data),
    );
    for (const edge of this.edges) for (const end of [edge.from, edge.to]) this.vertices[end].bytes += edge.bytes;
    for (const vertex of this.vertices) this.groups[vertex.group].members.push(vertex);
    this.build(root, side);
    this.arrange();
    this.draw();
    this.start();
    new ResizeObserver(() => this.resized()).observe(this.canvas);
  }

  start() {
    this.fit();
    if (this.view.k < READABLE) this.openAtStart();
    this.size = [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  /** Of a drawing that is too large to be read as a whole: its left end, with the first box of the critical path at half the height. */
  openAtStart() {
    const [x, y, width, height] = this.extent();
    const { clientWidth, clientHeight } = this.canvas;
    const k = READABLE;
    const first = this.groups.find((group) => group.c && group.place) ?? this.groups.find((group) => group.place);
    const middle = first ? first.place[1] + first.place[3] / 2 : y + height / 2;
    /** Where an end of the drawing is, if `wished` is shown there: all of it in the middle, else no more empty than a margin. */
    const along = (from, length, room, wished) =>
      length * k <= room
        ? (room - length * k) / 2 - from * k
        : Math.min(EDGE - from * k, Math.max(room - EDGE - (from + length) * k, wished));
    this.view = {
      k,
      x: along(x, width, clientWidth, EDGE - x * k),
      y: along(y, height, clientHeight, clientHeight / 2 - middle * k),
    };
    this.transform();
  }

  build(root, side) {
    this.canvas = s("svg", {
      class: "graph flow",
      role: "application",
      tabindex: "0",
      id: "flow-canvas",
      "aria-label":
        "Workflow graph. Tab or arrow keys go from box to box, Enter shows the figures, Space opens and closes a box, plus and minus zoom, 0 fits, Shift with arrow keys pans, Escape closes the figures.",
      onkeydown: (event) => this.key(event),
    });
    const search = h("input", {
      type: "search",
      id: "flow-search",
      placeholder: "Find a process or file",
      "aria-label": "Find a process or a file; Enter jumps to the next match",
      oninput: () => {
        this.query = search.value.trim().toLowerCase();
        this.at = -1;
        this.update();
      },
      onkeydown: (event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          this.jump(event.shiftKey ? -1 : 1);
        }
      },
    });
    const mark = h("input", {
      type: "checkbox",
      checked: true,
      onchange: () => {
        this.marked = mark.checked;
        this.update();
      },
    });
    const { path } = this.data.workflow.flow;
    this.status = h("p", { class: "status", id: "flow-status", role: "status" });
    this.found = h("span", { class: "status", role: "status" });
    this.side = new Side(root.parentElement, side, () => {
      this.selected = null;
      this.update();
      this.canvas.focus({ preventScroll: true });
    });
    root.append(
      h(
        "div",
        { class: "toolbar" },
        h("label", { class: "field search" }, h("span", null, "Search"), search),
        choice("Width of an edge", WIDTHS, this.width, (value) => {
          this.width = value;
          this.draw();
        }),
        path ? h("label", { class: "check" }, mark, "Mark the critical path") : null,
        h(
          "div",
          { class: "group" },
          this.button("Open all", "Open boxes while there is room", () => this.openAll()),
          this.button("Close all", "Close all boxes", () => {
            this.opened.clear();
            this.changed();
          }),
        ),
        this.found,
      ),
      this.status,
      h("div", { class: "stage" }, this.canvas, this.zoomButtons()),
      h(
        "div",
        { class: "legend" },
        h(
          "span",
          { class: "key" },
          s(
            "svg",
            { width: 26, height: 16, "aria-hidden": "true" },
            s("rect", { x: 1, y: 1, width: 24, height: 14, rx: 7, class: "key-process" }),
          ),
          "processes",
        ),
        h(
          "span",
          { class: "key" },
          s(
            "svg",
            { width: 26, height: 16, "aria-hidden": "true" },
            s("path", { d: sheet(1, 1, 24, 14), class: "key-file" }),
          ),
          "files, in the colour of the group that wrote or first read them",
        ),
        h("span", { class: "key" }, "×N: N of them in one box; + or Space opens it."),
        path
          ? h(
              "span",
              { class: "key" },
              h("i", { class: "swatch critical-swatch", "aria-hidden": "true" }),
              "critical path: what the end of the run waited for",
            )
          : null,
        hueLegend(
          this.data,
          [...new Set(this.groups.map((group) => group.g))].filter((group) => group >= 0).sort((a, b) => a - b),
        ),
      ),
      this.pathList(path),
    );
    this.pointer();
  }

  /** Which members of opened boxes are shown, and where everything is. */
  arrange() {
    let room = MOST_NODES - this.groups.length;
    this.shownMembers = new Map();
    const stretch = [];
    for (const index of this.opened) {
      const group = this.groups[index];
      const limit = Math.max(Math.min(group.members.length, MOST_MEMBERS, room), 0);
      const chosen = [...group.members]
        .sort((a, b) => b.critical - a.critical || b.bytes - a.bytes || b.time - a.time || a.index - b.index)
        .slice(0, limit)
        .sort((a, b) => a.index - b.index);
      room -= chosen.length;
      this.shownMembers.set(index, chosen);
      const columns = Math.min(Math.max(Math.ceil(Math.sqrt(chosen.length * 0.45)), 1), 8);
      const rows = Math.ceil(chosen.length / columns);
      const size = [
        columns * (MEMBER.width + MEMBER.gap) - MEMBER.gap + 2 * MEMBER.pad,
        rows * (MEMBER.height + MEMBER.gap) - MEMBER.gap + MEMBER.head + MEMBER.pad,
      ];
      stretch.push({
        box: group.box,
        by: [Math.max(size[0] - group.box[2], 0), Math.max(size[1] - group.box[3], 0)],
        size,
        group,
        chosen,
        columns,
      });
    }
    const moved = (axis) => (value) =>
      stretch.reduce(
        (sum, { box, by }) => sum + by[axis] * Math.min(Math.max((value - box[axis]) / box[axis + 2], 0), 1),
        value,
      );
    [this.across, this.down] = [moved(0), moved(1)];
    for (const group of this.groups) {
      const [x, y, width, height] = group.box;
      const [left, top, right, bottom] = [this.across(x), this.down(y), this.across(x + width), this.down(y + height)];
      group.place = this.opened.has(group.index)
        ? [left, top, right - left, bottom - top]
        : [(left + right - width) / 2, (top + bottom - height) / 2, width, height];
    }
    for (const { group, chosen, columns: least } of stretch) {
      const [x, y, width] = group.place;
      const step = MEMBER.width + MEMBER.gap;
      const columns = Math.min(
        Math.max(Math.floor((width - 2 * MEMBER.pad + MEMBER.gap + 0.5) / step), least),
        Math.max(chosen.length, 1),
      );
      const left = x + (width - columns * step + MEMBER.gap) / 2;
      chosen.forEach((vertex, at) => {
        vertex.place = [
          left + (at % columns) * step,
          y + MEMBER.head + Math.floor(at / columns) * (MEMBER.height + MEMBER.gap),
          MEMBER.width,
          MEMBER.height,
        ];
      });
    }
    this.connect();
  }

  /** The edges to draw: the given ones between closed boxes, and what leads to and from members of opened ones. */
  connect() {
    const shown = new Set([...this.shownMembers.values()].flat());
    const ends = (vertex) => (shown.has(vertex) ? vertex : this.groups[vertex.group]);
    const closed = this.links
      .filter((link) => !this.opened.has(link.from) && !this.opened.has(link.to))
      .map((link) => ({ ...link, a: this.groups[link.from], b: this.groups[link.to] }));
    const sums = new Map();
    for (const edge of this.edges) {
      const [from, to] = [this.vertices[edge.from], this.vertices[edge.to]];
      if (!this.opened.has(from.group) && !this.opened.has(to.group)) continue;
      const [a, b] = [ends(from), ends(to)];
      if (a === b) continue;
      const key = `${a.id} ${b.id}`;
      const sum = sums.get(key) ?? {
        id: key,
        a,
        b,
        relation: edge.relation,
        read: 0,
        written: 0,
        bytes: 0,
        calls: 0,
        elapsed: null,
        members: 0,
        critical: false,
        route: null,
      };
      for (const figure of ["read", "written", "bytes", "calls", "members"]) sum[figure] += edge[figure];
      if (edge.elapsed !== null) sum.elapsed = (sum.elapsed ?? 0) + edge.elapsed;
      sum.critical ||= edge.critical;
      sums.set(key, sum);
    }
    const inner = [...sums.values()].sort(
      (a, b) => b.critical - a.critical || b.bytes - a.bytes || b.members - a.members,
    );
    this.hiddenEdges = Math.max(inner.length - MOST_EDGES, 0);
    this.drawn = [...closed, ...inner.slice(0, MOST_EDGES)];
    this.byEdge = new Map(this.drawn.map((edge) => [edge.id, edge]));
  }

  /** What an edge's width shows; null if that is unknown. */
  weight(edge) {
    if (this.width === "bytes") return edge.bytes > 0 ? edge.bytes : null;
    if (this.width === "calls") return edge.calls > 0 ? edge.calls : null;
    return edge.bytes > 0 && edge.elapsed > 0 ? edge.elapsed / edge.bytes : null;
  }

  draw() {
    const marker = (id, colour) =>
      s(
        "marker",
        {
          id,
          viewBox: "0 0 10 10",
          refX: "9",
          refY: "5",
          markerWidth: "8",
          markerHeight: "8",
          markerUnits: "userSpaceOnUse",
          orient: "auto-start-reverse",
        },
        s("path", { d: "M0 1 10 5 0 9z", style: { fill: colour } }),
      );
    this.world = s("g", { class: "world" });
    const [edges, nodes] = [s("g", { class: "edges" }), s("g", { class: "nodes" })];
    const weights = this.drawn.map((edge) => this.weight(edge)).filter((weight) => weight !== null);
    const [least, most] = [Math.min(...weights), Math.max(...weights)];
    const share = (weight) => (most > least ? Math.log(weight / least) / Math.log(most / least) : 0.5);
    this.elements = new Map();
    for (const edge of this.drawn) edges.append(this.edge(edge, this.weight(edge), share));
    for (const group of this.groups)
      nodes.append(this.opened.has(group.index) ? this.container(group) : this.box(group));
    for (const members of this.shownMembers.values()) nodes.append(...members.map((vertex) => this.member(vertex)));
    this.world.append(edges, nodes);
    clear(this.canvas).append(
      s("defs", null, marker("flow-arrow", "var(--edge)"), marker("flow-arrow-critical", "var(--critical)")),
      this.world,
    );
    this.update();
    this.transform();
  }

  label(item) {
    if (item.members) return item.name;
    return this.groups[item.group].f
      ? base(item.name) + (item.part > 1 ? ` @${item.part}` : "")
      : `${item.name} ${this.pid(item)}`.trim();
  }

  pid(vertex) {
    const row = vertex.about === null ? null : this.gantt?.rows[vertex.about];
    return `${row ? row.pid : ""}${vertex.part > 1 ? `#${vertex.part}` : ""}`.trim();
  }

  amount(item) {
    const isFile = item.members ? item.f : this.groups[item.group].f;
    const moved = item.members ? item.r + item.wr : item.bytes;
    const time = item.members ? item.t : item.time;
    return isFile ? bytes(moved) : time !== null ? duration(time) : "life unknown";
  }

  /** The group of an item that can be pressed. */
  frame(item, kind, text, content) {
    const [x, y] = item.place;
    const element = s(
      "g",
      {
        class: `node ${kind}`,
        tabindex: "-1",
        role: "button",
        "data-node": item.id,
        "aria-label": text,
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        onclick: (event) => {
          if (!event.target.closest(".opener")) this.choose({ node: item.id });
        },
        ondblclick: () => item.members && item.m > 1 && this.toggle(item.index),
      },
      s("title", null, text),
      content,
    );
    this.elements.set(item.id, { element, item });
    return element;
  }

  shape(isFile, [, , width, height], colour, offset = 0) {
    return isFile
      ? s("path", { d: sheet(offset, offset, width, height), class: "body file", style: { "--tint": colour } })
      : s("rect", {
          x: offset,
          y: offset,
          width,
          height,
          rx: Math.min(height / 2, 14),
          class: "body process",
          style: { "--tint": colour },
        });
  }

  opener(group, sign, x, y) {
    return s(
      "g",
      {
        class: "opener",
        role: "button",
        "aria-label": `${sign === "+" ? "Open" : "Close"} ${visible(group.whole)}`,
        transform: `translate(${x} ${y})`,
        onclick: () => this.toggle(group.index),
      },
      s("circle", { r: 9 }),
      s("text", { "text-anchor": "middle", "dominant-baseline": "central" }, sign),
    );
  }

  box(group) {
    const [, , width, height] = group.place;
    const colour = hue(group.g);
    const what = group.f ? plural(group.d, "file") : plural(group.d, "process", "processes");
    const limit = Math.max(Math.floor((width - 14) / 7.7), 6);
    return this.frame(
      group,
      group.c ? "critical" : "",
      `${visible(group.whole)}: ${what}, ${this.amount(group)}${group.c ? ", on the critical path" : ""}`,
      [
        group.m > 1 ? this.shape(group.f, group.place, colour, 4) : null,
        this.shape(group.f, group.place, colour),
        s(
          "text",
          { x: width / 2, y: height * 0.34, "text-anchor": "middle", "dominant-baseline": "central", class: "title" },
          shorten(visible(group.name), limit),
        ),
        s(
          "text",
          { x: width / 2, y: height * 0.7, "text-anchor": "middle", "dominant-baseline": "central", class: "sub" },
          `${group.d > 1 ? `×${count(group.d)} · ` : ""}${this.amount(group)}`,
        ),
        group.m > 1 ? this.opener(group, "+", width - 2, 2) : null,
      ],
    );
  }

  container(group) {
    const [, , width, height] = group.place;
    const shown = this.shownMembers.get(group.index).length;
    return this.frame(
      group,
      `container${group.c ? " critical" : ""}`,
      `${visible(group.whole)}, opened: ${count(shown)} of ${count(group.m)} shown`,
      [
        s("rect", { width, height, rx: 10, class: "body room", style: { "--tint": hue(group.g) } }),
        s(
          "text",
          { x: 14, y: 17, "dominant-baseline": "central", class: "title" },
          `${shorten(visible(group.name), Math.max(Math.floor((width - 120) / 7.4), 8))}`,
          s("tspan", { class: "sub" }, `  ${count(shown)} of ${count(group.m)}`),
        ),
        this.opener(group, "−", width - 14, 16),
      ],
    );
  }

  member(vertex) {
    const [, , width, height] = vertex.place;
    const group = this.groups[vertex.group];
    const label = this.label(vertex);
    return this.frame(
      vertex,
      `member${vertex.critical ? " critical" : ""}`,
      `${visible(group.f ? vertex.name : label)}: ${this.amount(vertex)}${vertex.critical ? ", on the critical path" : ""}`,
      [
        this.shape(group.f, vertex.place, hue(group.g)),
        s(
          "text",
          { x: width / 2, y: height / 2, "text-anchor": "middle", "dominant-baseline": "central", class: "sub" },
          shorten(visible(label), 20),
        ),
      ],
    );
  }

  edge(edge, weight, share) {
    const width = Math.max(weight === null ? 0.8 : 1 + 5 * share(weight), edge.critical ? 2 : 0);
    const from = visible(this.label(edge.a));
    const text = `${from} → ${visible(this.label(edge.b))}: ${edge.bytes > 0 ? `${bytes(edge.bytes)}, ` : ""}${edge.relation}${edge.members > 1 ? `, ${count(edge.members)} edges` : ""}`;
    const d = this.route(edge);
    const line = s("path", {
      d,
      class: `line${edge.bytes > 0 ? "" : " without"}`,
      "stroke-width": width.toFixed(2),
      "marker-end": "url(#flow-arrow)",
    });
    const element = s(
      "g",
      {
        class: `edge${edge.critical ? " critical" : ""}${edge.route || (edge.a.members && edge.b.members) ? "" : " thin"}`,
        "data-edge": edge.id,
        role: "button",
        tabindex: "-1",
        "aria-label": text,
        onclick: () => this.choose({ edge: edge.id }),
      },
      s("title", null, text),
      s("path", { class: "hit", d }),
      line,
    );
    this.elements.set(edge.id, { element, edge, line });
    return element;
  }

  /** The given route where the layout has one, with its ends on the borders of the boxes as they are now. */
  route(edge) {
    if (!edge.route || edge.a === edge.b) return straight(edge.a.place, edge.b.place, edge.a === edge.b);
    const moved = edge.route.map((value, at) => (at % 2 === 0 ? this.across(value) : this.down(value)));
    const fasten = (at, control, [x, y, width, height], [ox, oy, ow, oh]) => {
      const target = [x + ((edge.route[at] - ox) / ow) * width, y + ((edge.route[at + 1] - oy) / oh) * height];
      const by = [target[0] - moved[at], target[1] - moved[at + 1]];
      for (const place of [at, control]) {
        moved[place] += by[0];
        moved[place + 1] += by[1];
      }
    };
    const last = moved.length - 2;
    if (last >= 6) {
      fasten(0, 2, edge.a.place, edge.a.box);
      fasten(last, last - 2, edge.b.place, edge.b.box);
    }
    return curve(moved);
  }

  matches(item) {
    if (this.query === "") return false;
    const has = (text) => visible(text).toLowerCase().includes(this.query);
    if (item.members) return has(item.whole) || item.members.some((vertex) => this.matches(vertex));
    return has(item.name) || has(this.pid(item)) || (this.command(item) !== null && has(this.command(item)));
  }

  command(vertex) {
    const row = this.groups[vertex.group].f || vertex.about === null ? null : this.gantt?.rows[vertex.about];
    return row && row.command !== null ? this.data.text(row.command) : null;
  }

  /** Marks what is selected, what is near it, what matches, and the critical path; says what is shown. */
  update() {
    const { selected } = this;
    let matches = 0;
    for (const [id, { element, item, edge, line }] of this.elements) {
      const critical = this.marked && element.classList.contains("critical");
      element.classList.toggle("marked", critical);
      if (item) {
        const match = this.matches(item);
        matches += match;
        element.classList.toggle("match", match);
        element.classList.toggle("dim", this.query !== "" && !match && !element.classList.contains("container"));
        element.classList.toggle("selected", selected?.node === id);
      } else {
        const near = selected?.node !== undefined && (edge.a.id === selected.node || edge.b.id === selected.node);
        element.classList.toggle("selected", selected?.edge === id);
        element.classList.toggle("near", near);
        line.setAttribute("marker-end", `url(#flow-arrow${critical ? "-critical" : ""})`);
      }
    }
    this.canvas.classList.toggle("focused", selected?.node !== undefined);
    this.found.textContent =
      this.query === "" ? "" : `${plural(matches, "match", "matches")}${matches > 0 ? ", Enter jumps" : ""}`;
    this.describe();
  }

  describe() {
    const { more, left_out: leftOut, left_out_bytes: leftOutBytes } = this.data.workflow.flow;
    const sum = (files) =>
      this.groups.filter((group) => group.f === files).reduce((total, group) => total + group.d, 0);
    const closed = this.groups.filter((group) => !this.opened.has(group.index)).length;
    const members = [...this.shownMembers.values()].reduce((total, list) => total + list.length, 0);
    const unseen = [...this.opened].reduce(
      (total, index) => total + this.groups[index].m - this.shownMembers.get(index).length,
      0,
    );
    const words = [
      `${plural(sum(false), "process", "processes")} and ${plural(sum(true), "file")} in ${plural(this.groups.length, "box", "boxes")}: ${count(closed)} closed${this.opened.size > 0 ? `, ${count(this.opened.size)} opened with ${plural(members, "member")}` : ""}; ${plural(this.drawn.length, "edge")}.`,
    ];
    if (unseen > 0)
      words.push(
        `${plural(unseen, "member")} of opened boxes ${unseen === 1 ? "is" : "are"} not drawn: at most ${count(MOST_MEMBERS)} of a box and ${count(MOST_NODES)} in all.`,
      );
    if (this.hiddenEdges > 0)
      words.push(
        `${plural(this.hiddenEdges, "lighter edge")} of opened boxes ${this.hiddenEdges === 1 ? "is" : "are"} not drawn.`,
      );
    if (more.vertices > 0)
      words.push(
        `${plural(more.vertices, "vertex", "vertices")} ${more.vertices === 1 ? "is" : "are"} counted in the boxes but not in this file.`,
      );
    if (more.edges > 0)
      words.push(
        `${plural(more.edges, "edge")} with ${bytes(more.bytes)} between single vertices ${more.edges === 1 ? "is" : "are"} not in this file.`,
      );
    if (leftOut.length > 0)
      words.push(
        `Left out: ${leftOut.map(visible).join(", ")}${leftOutBytes > 0 ? `, with ${bytes(leftOutBytes)}` : ""}.`,
      );
    const text = words.join(" ");
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  toggle(index) {
    if (!this.opened.delete(index)) this.opened.add(index);
    this.changed(this.groups[index]);
  }

  openAll() {
    let room = MOST_NODES - this.groups.length;
    for (const group of this.groups
      .filter((one) => one.m > 1 && one.members.length > 0)
      .sort((a, b) => a.members.length - b.members.length)) {
      if (group.members.length > Math.min(room, MOST_MEMBERS)) continue;
      room -= group.members.length;
      this.opened.add(group.index);
    }
    this.changed();
  }

  /** Draws anew; `group` stays where it is on the screen. */
  changed(group) {
    const { k, x, y } = this.view;
    const before = group && [group.place[0] * k + x, group.place[1] * k + y];
    this.arrange();
    if (this.selected && !this.exists(this.selected)) {
      this.selected = null;
      this.side.hide();
    }
    if (group) this.view = { k, x: before[0] - group.place[0] * k, y: before[1] - group.place[1] * k };
    this.draw();
    if (group) {
      this.elements.get(group.id).element.focus({ preventScroll: true });
      if (this.selected?.node === group.id) this.choose(this.selected);
    } else this.fit();
  }

  exists({ node, edge }) {
    return edge !== undefined
      ? this.byEdge.has(edge)
      : node.startsWith("g") ||
          [...this.shownMembers.values()].some((list) => list.some((vertex) => vertex.id === node));
  }

  items() {
    return [...this.elements.values()]
      .filter(
        ({ item }) =>
          item &&
          !(
            item.members &&
            this.opened.has(item.index) &&
            this.shownMembers.get(item.index).length > 0 &&
            document.activeElement?.dataset?.node?.startsWith("v")
          ),
      )
      .map(({ item, element }) => ({ id: item.id, box: item.place, element }));
  }

  press(node, key) {
    const { item } = this.elements.get(node);
    if (key === " " && item.members && item.m > 1) this.toggle(item.index);
    else this.choose({ node });
  }

  extent() {
    const boxes = this.groups.map((group) => group.place);
    const [left, top] = [Math.min(...boxes.map((box) => box[0])), Math.min(...boxes.map((box) => box[1]))];
    const [right, bottom] = [
      Math.max(...boxes.map((box) => box[0] + box[2])),
      Math.max(...boxes.map((box) => box[1] + box[3])),
    ];
    return [left - 24, top - 20, right - left + 60, bottom - top + 40];
  }

  /** Goes to the next match, opening the box that holds it. */
  jump(step) {
    const found = [
      ...this.groups.filter((group) => visible(group.whole).toLowerCase().includes(this.query)),
      ...this.vertices.filter((vertex) => this.matches(vertex)),
    ];
    if (found.length === 0) return;
    this.at = ((this.at ?? -1) + step + found.length) % found.length;
    this.reveal(found[this.at]);
  }

  reveal(item) {
    let shown = item;
    if (!item.members) {
      const group = this.groups[item.group];
      if (!this.opened.has(group.index) && group.m > 1) {
        this.opened.add(group.index);
        this.arrange();
        this.draw();
      }
      shown = this.shownMembers.get(group.index)?.includes(item) ? item : group;
    }
    this.centre(shown.place);
    this.choose({ node: shown.id }, item);
  }

  /** Shows the figures of a box, a member or an edge; `of` is a member that stands in its box. */
  choose(what, of) {
    this.selected = what;
    this.update();
    if (!what) this.side.hide();
    else if (what.edge !== undefined) this.showEdge(this.byEdge.get(what.edge));
    else {
      const { item } = this.elements.get(what.node);
      const single =
        of && !of.members ? of : item.members && item.m === 1 && item.members.length === 1 ? item.members[0] : item;
      if (single.members) this.showGroup(single);
      else this.showVertex(single);
    }
  }

  link(item, text = visible(this.label(item))) {
    return h("button", { type: "button", class: "link", onclick: () => this.reveal(item) }, shorten(text, 46));
  }

  list(title, rows) {
    if (rows.length === 0) return null;
    return h(
      "section",
      null,
      h("h4", null, title),
      h(
        "ul",
        { class: "plain" },
        rows.slice(0, LISTED).map((cells) => h("li", null, cells)),
        rows.length > LISTED ? h("li", { class: "status" }, `and ${count(rows.length - LISTED)} more`) : null,
      ),
    );
  }

  showGroup(group) {
    const way = (links, end) =>
      links
        .sort((a, b) => b.bytes - a.bytes)
        .map((link) => [
          this.link(this.groups[link[end]], visible(this.groups[link[end]].whole)),
          ` ${link.bytes > 0 ? bytes(link.bytes) : link.relation}`,
        ]);
    const heaviest = [...group.members].sort((a, b) => (group.f ? b.bytes - a.bytes : b.time - a.time));
    this.side.show(group.f ? "Files" : "Processes", visible(group.whole), [
      h(
        "p",
        null,
        dot(group.g),
        group.g < 0 ? "used by several groups" : `group ${groupName(this.data, group.g)}`,
        group.c ? h("b", { class: "on-path" }, " on the critical path") : null,
      ),
      figures([
        [
          group.f ? "Files" : "Processes",
          count(group.d),
          group.members.length < group.m ? `${count(group.members.length)} in this file` : "",
        ],
        ...(group.f ? [] : [["Lives", duration(group.t), group.t === null ? "" : `${count(group.t)} ns`]]),
        [group.f ? "Read of them" : "Read", bytes(group.r), `${count(group.r)} B`],
        [group.f ? "Written to them" : "Written", bytes(group.wr), `${count(group.wr)} B`],
      ]),
      group.m > 1 && group.members.length > 0
        ? h(
            "button",
            { type: "button", onclick: () => this.toggle(group.index) },
            this.opened.has(group.index) ? "Close the box" : "Open the box",
          )
        : null,
      this.list(
        "From",
        way(
          this.links.filter((link) => link.to === group.index),
          "from",
        ),
      ),
      this.list(
        "To",
        way(
          this.links.filter((link) => link.from === group.index),
          "to",
        ),
      ),
      this.list(
        group.f ? "Most bytes" : "Longest",
        heaviest.map((vertex) => [this.link(vertex), ` ${this.amount(vertex)}`]),
      ),
    ]);
  }

  showVertex(vertex) {
    const group = this.groups[vertex.group];
    const row = group.f || vertex.about === null ? null : this.gantt?.rows[vertex.about];
    const way = (end) =>
      this.edges
        .filter((edge) => edge[end === "from" ? "to" : "from"] === vertex.index)
        .sort((a, b) => b.bytes - a.bytes)
        .map((edge) => [
          this.link(this.vertices[edge[end]]),
          ` ${edge.relation}${edge.bytes > 0 ? ` ${bytes(edge.bytes)}` : ""}`,
        ]);
    const path = vertex.critical ? h("b", { class: "on-path" }, " on the critical path") : null;
    const about = group.f
      ? [
          h("p", null, h("code", null, visible(vertex.name)), path),
          figures([
            ["Version", count(vertex.part)],
            [
              "Size",
              vertex.about === null ? "unknown" : bytes(vertex.about),
              vertex.about === null ? "" : `${count(vertex.about)} B`,
            ],
            ["Readers", plural(vertex.readers, "process", "processes")],
            ["Writers", plural(vertex.writers, "process", "processes")],
            ["Moved", bytes(vertex.bytes), "along the edges in this file"],
          ]),
        ]
      : [
          h("p", null, dot(group.g), `group ${groupName(this.data, group.g)}`, path),
          this.command(vertex) === null ? null : h("p", null, h("code", null, visible(this.command(vertex)))),
          figures([
            ["Process", row ? String(row.pid) : "unknown"],
            ...(vertex.part > 1 ? [["Part", count(vertex.part), "after it took in data that depend on itself"]] : []),
            ["Life", duration(vertex.time), vertex.time === null ? "" : `${count(vertex.time)} ns`],
            ...(row
              ? [
                  ["CPU time", row.cpu === null ? "unknown" : duration(row.cpu)],
                  [
                    "Exit",
                    row.signal !== null
                      ? `killed by ${visible(this.data.text(row.signal))}`
                      : row.exit === null
                        ? "unknown"
                        : String(row.exit),
                  ],
                ]
              : []),
            ["Moved", bytes(vertex.bytes), "along the edges in this file"],
          ]),
          row
            ? h(
                "button",
                {
                  type: "button",
                  onclick: () => {
                    document.getElementById("processes").scrollIntoView({ block: "start" });
                    this.gantt.reveal(row.index);
                  },
                },
                "Show among the processes",
              )
            : null,
        ];
    this.side.show(group.f ? "File" : "Process", visible(this.label(vertex)), [
      ...about,
      this.list("From", way("from")),
      this.list("To", way("to")),
      h("p", { class: "status" }, "In the box ", this.link(group, visible(group.whole))),
    ]);
  }

  showEdge(edge) {
    const speed = edge.bytes > 0 && edge.elapsed > 0 ? (edge.bytes * 1e9) / edge.elapsed : null;
    this.side.show(
      "Edge",
      `${shorten(visible(this.label(edge.a)), 40)} → ${shorten(visible(this.label(edge.b)), 40)}`,
      [
        h(
          "p",
          null,
          this.link(edge.a),
          " → ",
          this.link(edge.b),
          edge.critical ? h("b", { class: "on-path" }, " on the critical path") : null,
        ),
        figures([
          ["Meaning", edge.relation, edge.members > 1 ? "the first of several" : ""],
          ["Edges", count(edge.members), "of single vertices"],
          ["Read", bytes(edge.read), `${count(edge.read)} B`],
          ["Written", bytes(edge.written), `${count(edge.written)} B`],
          ["Transfers", count(edge.calls)],
          ["Time in them", duration(edge.elapsed), edge.elapsed === null ? "" : `${count(edge.elapsed)} ns`],
          ["Rate", rate(speed), speed === null ? "no bytes or no time" : ""],
        ]),
      ],
    );
  }

  /** What the run waited for, by group and step by step. */
  pathList(path) {
    if (!path)
      return h(
        "p",
        { class: "status" },
        `The critical path is not known${this.data.workflow.flow.path_unknown ? `: ${visible(this.data.workflow.flow.path_unknown)}` : ""}.`,
      );
    const groupOfStep = ([vertex]) => (vertex >= 0 ? this.vertices[vertex].group : vertex === -1 ? "gap" : "other");
    const shares = new Map();
    for (const step of path.steps) shares.set(groupOfStep(step), (shares.get(groupOfStep(step)) ?? 0) + step[2]);
    const parts = [...shares].sort((a, b) => b[1] - a[1]);
    const label = (key) =>
      key === "gap" ? "nothing running" : key === "other" ? "not in this file" : visible(this.groups[key].name);
    const link = (vertex) =>
      vertex >= 0 ? this.link(this.vertices[vertex]) : vertex === -1 ? "nothing" : "a process that is not in this file";
    const steps = h("ol", { class: "steps" });
    const add = (from) =>
      steps.append(
        ...path.steps
          .slice(from, from + 50)
          .map(([vertex, at, length, why, after]) =>
            h(
              "li",
              null,
              h("b", null, duration(length)),
              " ",
              link(vertex),
              h("span", { class: "note" }, ` from +${duration(at - this.gantt.whole[0])}: ${why} `),
              after >= 0 ? link(after) : "",
            ),
          ),
      );
    add(0);
    const more = h(
      "button",
      {
        type: "button",
        hidden: path.steps.length <= 50,
        onclick: () => {
          add(steps.childElementCount);
          more.hidden = steps.childElementCount >= path.steps.length;
        },
      },
      "Show 50 more steps",
    );
    return h(
      "div",
      { class: "critical-path" },
      h("h3", null, `What the run waited for: ${duration(path.makespan)}`),
      h(
        "div",
        {
          class: "track parts",
          role: "img",
          "aria-label": parts.map(([key, time]) => `${label(key)} ${percent(time / path.makespan)}`).join(", "),
        },
        parts.map(([key, time]) =>
          h("span", {
            title: `${label(key)}: ${duration(time)}`,
            style: {
              flex: String(time),
              background: typeof key === "number" ? hue(this.groups[key].g) : "var(--band)",
            },
          }),
        ),
      ),
      h(
        "p",
        null,
        parts
          .slice(0, 8)
          .map(([key, time], at) => [
            at > 0 ? ", " : "",
            h("b", null, label(key)),
            ` ${percent(time / path.makespan)}`,
          ]),
        parts.length > 8 ? ` and ${count(parts.length - 8)} more` : "",
        ". The steps of the critical path cover the time from the first start to the last end without a hole.",
        path.unknown_times > 0
          ? ` Of ${plural(path.unknown_times, "process", "processes")} birth or death was not recorded.`
          : "",
        path.unknown_ends[0] > 0
          ? ` ${plural(path.unknown_ends[0], "wait", "waits")} of ${duration(path.unknown_ends[1])} in all on sockets or pipes whose other end is not recorded: counted for who waited.`
          : "",
      ),
      h(
        "details",
        null,
        h("summary", null, `${plural(path.steps.length + path.more, "step")}`),
        steps,
        more,
        path.more > 0 ? h("p", { class: "status" }, `${plural(path.more, "more step")} not in this file.`) : null,
      ),
    );
  }
}

/** A sheet of paper with a folded corner. */
function sheet(x, y, width, height) {
  const fold = 9;
  return `M${x} ${y}h${width - fold}l${fold} ${fold}v${height - fold}h${-width}z M${x + width - fold} ${y}v${fold}h${fold}`;
}

/** A path from border to border, of a box to itself a loop. */
function straight([ax, ay, aw, ah], [bx, by, bw, bh], loop) {
  if (loop) {
    const [x, y] = [ax + aw, ay + ah / 2];
    return `M${x} ${y - 10}C${x + 42} ${y - 26} ${x + 42} ${y + 26} ${x} ${y + 10}`;
  }
  const [from, to] = bx > ax ? [ax + aw, bx] : [ax, bx + bw];
  const bend = (to - from) / 2 || 40;
  const [start, end] = [ay + ah / 2, by + bh / 2];
  return `M${from} ${start}C${from + bend} ${start} ${to - bend} ${end} ${to} ${end}`;
}
