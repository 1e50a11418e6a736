// The Directly-Follows Graph. What is shown at each stop of the sliders, and where, comes with the data.

import { choice, clear, h, motion, s, shorten, visible } from "./dom.js";
import { bytes, count, duration, percent, plural, rate } from "./format.js";
import { EDGE_MEASURES, END, START } from "./data.js";
import { Stage } from "./stage.js";
import { Stops } from "./stops.js";
import { GROUP_COLOURS, GROUP_DASHES, css, groupShade, ink, isDark, neutral, shade } from "./colour.js";

const COLOURS = { rd: "relative duration", bytes: "bytes", count: "count", rate: "data rate", mc: "max concurrency" };

/** How what was not shown before comes into view. */
const APPEAR = [
  { opacity: 0, offset: 0 },
  { opacity: 0, offset: 0.5 },
];

/** Width of a character in the graph's 12-unit monospace-free text, a little on the safe side. */
const CHARACTER = 7.4;
/** What is shown at first: as many activities and lines as a reader can take in. */
const AT_FIRST = [24, 80];

export class Graph extends Stage {
  constructor(data, root, select, part) {
    super();
    this.data = data;
    this.select = select;
    this.view = null;
    this.edgeMeasure = "count";
    this.colour = data.grouped ? "groups" : "rd";
    this.query = "";
    this.selected = null;
    this.stops = new Stops(
      data.stops,
      data.nodes.map((node) => node.w),
    );
    const [stop, level] = this.stops.readable(...AT_FIRST);
    this.set(stop, level);
    /** How much of the transitions a reader wants to see at any stop. */
    this.share = this.stops.share(stop, level);
    this.build(root);
    this.draw();
    this.open();
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    part?.listen(() => this.look(part));
  }

  /** Draws what the graph is in a window of time. */
  look(part) {
    this.data = part.graph();
    if (part.isWhole) this.colour = this.colourOfWhole ?? this.colour;
    else if (this.colour === "groups") [this.colourOfWhole, this.colour] = [this.colour, "rd"];
    this.draw();
  }

  /** The whole drawing if its titles can be read so, else its heaviest activity in the middle. */
  open() {
    this.fit();
    if (this.view.k < 1 && this.data.nodes.length > 0) {
      this.view.k = 1;
      this.centre(this.box(this.heaviest()));
    }
    this.size = [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  /** Of the shown activities the one with the most time, or the most events where no time is known. */
  heaviest() {
    const weight = (index) => this.data.nodes[index].t ?? this.data.nodes[index].c;
    const shown = this.stops.order.filter((index) => this.nodeShown(index));
    return shown.reduce((best, index) => (weight(index) > weight(best) ? index : best), shown[0]);
  }

  /** Chooses a stop of both sliders. */
  set(stop, level) {
    this.stop = stop;
    this.level = level;
    this.layout = this.stops.layout(stop, level);
  }

  /** Goes to another stop: what stays moves there, and the activity that is looked at stays where it is. */
  go(stop, level = this.stops.level(stop, this.share)) {
    if (stop === this.stop && level === this.level) return;
    const before = this.layout;
    this.set(stop, level);
    const [wanted, heaviest] = [this.selected?.node, this.heaviest()];
    const anchor = [wanted, heaviest, START].find((node) => before.boxes.has(node) && this.layout.boxes.has(node));
    const { x, y, k } = this.view;
    const middle = ([left, top, width, height]) => [left + width / 2, top + height / 2];
    const [from, to] = [middle(before.boxes.get(anchor)), middle(this.box(anchor))];
    this.view = { k, x: x + (from[0] - to[0]) * k, y: y + (from[1] - to[1]) * k };
    this.update();
    this.transform();
    this.animate(before, { x, y, k });
  }

  /** Lets what was shown before glide to where it is now, and the rest appear. */
  animate(before, view) {
    const at = (x, y) => `translate(${x}px, ${y}px)`;
    motion(this.world, [{ transform: `${at(view.x, view.y)} scale(${view.k})` }]);
    for (const index of this.layout.boxes.keys()) {
      const old = before.boxes.get(index);
      motion(this.nodeElements.get(index), old ? [{ transform: at(old[0], old[1]) }] : APPEAR);
    }
    for (const layer of this.lineLayers) motion(layer, APPEAR);
  }

  nodeShown(index) {
    return this.layout.boxes.has(index);
  }

  edgeShown(edge) {
    return this.layout.lines.has(edge.index);
  }

  build(root) {
    const { data } = this;
    const slider = (id, choose) =>
      h("input", { type: "range", id, min: 0, oninput: ({ target }) => choose(Number(target.value)) });
    const nodeSlider = slider("slider-activities", (stop) => this.go(stop));
    const edgeSlider = slider("slider-transitions", (level) => {
      this.share = this.stops.share(this.stop, level);
      this.go(this.stop, level);
    });
    this.sliders = {
      nodeSlider,
      edgeSlider,
      nodeText: h("output", { for: "slider-activities" }),
      edgeText: h("output", { for: "slider-transitions" }),
    };
    const search = h("input", {
      type: "search",
      id: "graph-search",
      placeholder: "Find an activity",
      "aria-label": "Find an activity; Enter jumps to the next match",
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
    this.found = h("span", { class: "status", role: "status" });
    const colours = data.grouped ? { groups: "groups", ...COLOURS } : COLOURS;
    const labels = (measures) => Object.fromEntries(Object.entries(measures).map(([key, { label }]) => [key, label]));
    this.canvas = s("svg", {
      class: "graph",
      role: "application",
      tabindex: "0",
      id: "graph-canvas",
      "aria-label":
        "Directly-Follows Graph. Tab or arrow keys go from node to node, Enter shows the figures, plus and minus zoom, 0 fits, Shift with arrow keys pans, Escape closes the figures.",
      onkeydown: (event) => this.key(event),
    });
    this.legend = h("div", { class: "legend" });
    this.status = h("p", { class: "status", id: "graph-status", role: "status" });
    root.append(
      h(
        "div",
        { class: "toolbar" },
        h("label", { class: "field search" }, h("span", null, "Search"), search),
        choice("Transitions show", labels(EDGE_MEASURES), this.edgeMeasure, (value) => {
          this.edgeMeasure = value;
          this.draw();
        }),
        choice("Colour", colours, this.colour, (value) => {
          this.colour = value;
          this.draw();
        }),
      ),
      h(
        "div",
        { class: "toolbar" },
        h(
          "label",
          { class: "field slider", for: "slider-activities" },
          h("span", null, "Activities ", this.sliders.nodeText),
          nodeSlider,
        ),
        h(
          "label",
          { class: "field slider", for: "slider-transitions" },
          h("span", null, "Transitions ", this.sliders.edgeText),
          edgeSlider,
        ),
        this.found,
      ),
      this.status,
      h("div", { class: "stage" }, this.canvas, this.zoomButtons()),
      this.legend,
    );
    this.pointer();
  }

  /** The colour of a node, its share of the scale, and its border. */
  paint(node) {
    if (this.colour === "groups")
      return this.paintGroup(
        node.g,
        (group) => group[3] ?? 0,
        (group) => group[0],
      );
    const measure = {
      rd: (n) => n.t ?? 0,
      bytes: (n) => n.b,
      count: (n) => n.c,
      rate: (n) => n.r ?? 0,
      mc: (n) => n.m ?? 0,
    }[this.colour];
    const top = Math.max(...this.data.nodes.map(measure), 0);
    const share = top > 0 ? measure(node) / top : 0;
    return { fill: shade(this.colour === "rd" ? share : Math.sqrt(share)), dash: "", border: null };
  }

  /** Exclusive to one group: its colour. Shared: towards the group that spends more for each of its cases. */
  paintGroup(groups, weight, presence) {
    const present = groups.map((group, index) => [group, index]).filter(([group]) => group && presence(group) > 0);
    if (present.length === 1) {
      const [, index] = present[0];
      return {
        fill: groupShade(index, isDark() ? 0.5 : 0.38),
        dash: GROUP_DASHES[index % GROUP_DASHES.length],
        border: GROUP_COLOURS[index % GROUP_COLOURS.length],
        exclusive: index,
      };
    }
    const each = present
      .map(([group, index]) => [weight(group) / Math.max(this.data.groups[index].cases, 1), index])
      .sort((a, b) => b[0] - a[0]);
    const ratio = each.length > 1 && each[1][0] > 0 ? each[0][0] / each[1][0] : 1;
    const strength = Math.min(Math.log2(Math.max(ratio, 1)) / 6, 1) * 0.24;
    return {
      fill: strength > 0.03 ? groupShade(each[0][1], strength) : neutral(),
      dash: "",
      border: null,
      leans: strength > 0.03 ? each[0][1] : null,
      ratio,
    };
  }

  draw() {
    const { data } = this;
    const marker = (id, colour) =>
      s(
        "marker",
        {
          id,
          viewBox: "0 0 10 10",
          refX: "9",
          refY: "5",
          markerWidth: "9",
          markerHeight: "9",
          markerUnits: "userSpaceOnUse",
          orient: "auto-start-reverse",
        },
        s("path", { d: "M0 1 10 5 0 9z", style: { fill: colour } }),
      );
    this.world = s("g", { class: "world" });
    const edges = s("g", { class: "edges" });
    const labels = s("g", { class: "edge-labels" });
    const nodes = s("g", { class: "nodes" });
    this.nodeElements = new Map();
    this.edgeElements = new Map();
    const heaviest = Math.max(...data.edges.map((edge) => edge.count), 1);
    for (const edge of data.edges) {
      const drawn = this.edge(edge, heaviest);
      edges.append(drawn.group);
      labels.append(drawn.label);
      this.edgeElements.set(edge.index, drawn);
    }
    for (const [index, mark] of [
      [START, "●"],
      [END, "■"],
    ]) {
      const [width, height] = this.stops.size(index);
      const element = s(
        "g",
        { class: "terminal" },
        s("title", null, index === START ? "● start of every trace" : "■ end of every trace"),
        s("text", { "text-anchor": "middle", "dominant-baseline": "central", x: width / 2, y: height / 2 }, mark),
      );
      nodes.append(element);
      this.nodeElements.set(index, element);
    }
    for (const node of data.nodes) {
      const element = this.node(node);
      nodes.append(element);
      this.nodeElements.set(node.index, element);
    }
    const arrows = [
      marker("arrow", "var(--edge)"),
      marker("arrow-selected", "var(--accent)"),
      ...GROUP_COLOURS.map((colour, index) => marker(`arrow-${index}`, colour)),
    ];
    this.projected = s("g", { class: "projections" });
    this.lineLayers = [this.projected, edges, labels];
    this.world.append(...this.lineLayers, nodes);
    clear(this.canvas).append(s("defs", null, arrows), this.world);
    this.drawLegend();
    this.update();
    this.transform();
  }

  node(node) {
    const [width, height] = this.stops.size(node.index);
    const paint = this.paint(node);
    const colour = ink(paint.fill);
    const limit = Math.max(Math.floor((width - 16) / CHARACTER), 6);
    const lines = [
      shorten(visible(node.name), limit),
      `Load: ${percent(node.rd)} (${bytes(node.b)})`,
      node.r === null
        ? plural(node.c, "call") + (node.m === null ? "" : `, max ${count(node.m)} at once`)
        : `DR: ${count(node.m)} × ${rate(node.r)}`,
    ];
    const step = height / (lines.length + 0.6);
    const group = s(
      "g",
      {
        class: "node",
        tabindex: "-1",
        role: "button",
        "data-node": node.index,
        "aria-label": `${visible(node.name)}: ${plural(node.c, "event")}, ${percent(node.rd)} of the time, ${bytes(node.b)}`,
        onclick: () => this.choose({ node: node.index }),
      },
      s("title", null, node.name),
      s("rect", {
        width,
        height,
        rx: 5,
        style: { fill: css(paint.fill), stroke: paint.border ?? "" },
        "stroke-dasharray": paint.dash || null,
        class: paint.exclusive === undefined ? "" : "exclusive",
      }),
      lines.map((line, place) =>
        s(
          "text",
          {
            x: width / 2,
            y: step * (place + 0.8),
            "text-anchor": "middle",
            "dominant-baseline": "central",
            class: place === 0 ? "title" : "sub",
            style: { fill: colour },
          },
          line,
        ),
      ),
    );
    return group;
  }

  edge(edge, heaviest) {
    const width = 0.8 + 3.2 * (Math.log1p(edge.count) / Math.log1p(heaviest));
    const paint =
      this.colour === "groups" && edge.groups
        ? this.paintGroup(
            edge.groups,
            (group) => group[2],
            (group) => group[0],
          )
        : {};
    const own = paint.exclusive;
    const title = `${visible(this.data.label(edge.from))} → ${visible(this.data.label(edge.to))}: ${count(edge.count)} times`;
    const label = s(
      "text",
      { class: "edge-label", "text-anchor": "middle", "dominant-baseline": "central" },
      this.edgeText(edge),
    );
    const line = s("path", {
      class: "line",
      "stroke-width": width.toFixed(2),
      "marker-end": `url(#arrow${own === undefined ? "" : `-${own % GROUP_COLOURS.length}`})`,
      style: own === undefined ? {} : { stroke: GROUP_COLOURS[own % GROUP_COLOURS.length] },
      "stroke-dasharray": own === undefined ? null : GROUP_DASHES[own % GROUP_DASHES.length] || null,
    });
    const choose = () => this.choose({ edge: edge.index });
    const hit = s("path", { class: "hit" });
    const group = s(
      "g",
      { class: "edge", "data-edge": edge.index, role: "button", tabindex: "-1", "aria-label": title, onclick: choose },
      s("title", null, title),
      hit,
      line,
    );
    label.addEventListener("click", choose);
    return { group, label, lines: [hit, line] };
  }

  edgeText(edge) {
    const value = EDGE_MEASURES[this.edgeMeasure].of(edge);
    if (value === null) return "";
    return this.edgeMeasure === "count" || this.edgeMeasure === "cases" ? count(value) : duration(value);
  }

  /** Where a node lies. */
  box(index) {
    return this.layout.boxes.get(index);
  }

  /** Puts everything that is shown in its place. */
  arrange() {
    for (const [index, [x, y]] of this.layout.boxes)
      this.nodeElements.get(index).setAttribute("transform", `translate(${x} ${y})`);
    for (const [index, { route, label: middle }] of this.layout.lines) {
      const { lines, label } = this.edgeElements.get(index);
      const d = curve(route);
      lines.forEach((line) => line.setAttribute("d", d));
      label.setAttribute("x", middle[0]);
      label.setAttribute("y", middle[1]);
    }
    clear(this.projected).append(...this.layout.ways.map((way) => this.projectedEdge(way)));
  }

  /** A way through hidden activities, dashed; how often it was taken is known of the whole run only. */
  projectedEdge({ from, to, count: number, hidden, names, line: { route, label } }) {
    const name = (index) => visible(this.data.label(index));
    const absent = [from, to].some((index) => index >= 0 && this.data.nodes[index].absent);
    const through = names.map((index) => visible(this.data.text(index)));
    if (names.length < hidden) through.push(`${count(hidden - names.length)} more`);
    return s(
      "g",
      { class: absent ? "projected absent" : "projected" },
      s(
        "title",
        null,
        `${[name(from), ...through, name(to)].join(" → ")}: at most ${plural(number, "time")} in the whole run`,
      ),
      s("path", { class: "line", d: curve(route), "marker-end": "url(#arrow)" }),
      s(
        "text",
        { class: "edge-label", "text-anchor": "middle", "dominant-baseline": "central", x: label[0], y: label[1] },
        `${count(hidden)} hidden`,
      ),
    );
  }

  matches(node) {
    return this.query !== "" && visible(node.name).toLowerCase().includes(this.query);
  }

  /** Shows and hides, marks matches and what is not in the window, and says what is hidden. */
  update() {
    const { data } = this;
    this.arrange();
    let [events, time, follows] = [0, 0, 0];
    let [nodes, edges, matches] = [0, 0, 0];
    for (const node of data.nodes) {
      const shown = this.nodeShown(node.index);
      const element = this.nodeElements.get(node.index);
      const match = this.matches(node);
      element.style.display = shown ? "" : "none";
      element.classList.toggle("match", match);
      element.classList.toggle("dim", this.query !== "" && !match);
      element.classList.toggle("selected", this.selected?.node === node.index);
      element.classList.toggle("absent", Boolean(node.absent));
      matches += match;
      if (!shown || node.absent) continue;
      nodes += 1;
      events += node.c;
      time += node.t ?? 0;
    }
    for (const edge of data.edges) {
      const shown = this.edgeShown(edge);
      const { group, label } = this.edgeElements.get(edge.index);
      group.style.display = label.style.display = shown ? "" : "none";
      const selected = this.selected?.edge === edge.index;
      const near =
        this.selected?.node !== undefined && (edge.from === this.selected.node || edge.to === this.selected.node);
      group.classList.toggle("selected", selected);
      group.classList.toggle("near", near);
      label.classList.toggle("near", near || selected);
      for (const element of [group, label]) element.classList.toggle("absent", Boolean(edge.absent));
      if (!shown || edge.absent) continue;
      edges += 1;
      follows += edge.count;
    }
    const totals = data.totals;
    const allNodes = data.nodes.length + data.nodes_more.nodes;
    const allEdges = data.edges.length + data.edges_more.edges;
    const allFollows = data.edges.reduce((sum, edge) => sum + edge.count, 0) + data.edges_more.count;
    const { nodeSlider, nodeText, edgeSlider, edgeText } = this.sliders;
    nodeSlider.max = this.stops.list.length - 1;
    nodeSlider.value = this.stop;
    nodeSlider.disabled = this.stops.list.length === 1;
    edgeSlider.max = this.stops.list[this.stop].levels.length - 1;
    edgeSlider.value = this.level;
    edgeSlider.disabled = this.stops.list[this.stop].levels.length === 1;
    nodeText.textContent = `${count(nodes)} of ${count(allNodes)}`;
    edgeText.textContent = `${count(edges)} of ${count(allEdges)}`;
    nodeSlider.setAttribute("aria-valuetext", `${nodeText.textContent} activities`);
    edgeSlider.setAttribute("aria-valuetext", `${edgeText.textContent} transitions`);
    const share = (part, whole) => (whole > 0 ? percent(part / whole) : "0 %");
    const timeShare = (part) => (totals.mapped_ns === null ? "" : ` and ${share(part, totals.mapped_ns)} of the time`);
    this.status.textContent =
      nodes === allNodes && edges === allEdges
        ? `The whole graph: ${plural(nodes, "activity", "activities")} and ${plural(edges, "transition")}.`
        : `Shown: ${count(nodes)} of ${plural(allNodes, "activity", "activities")} with ${share(events, totals.mapped)} of the events${timeShare(time)}, ${count(edges)} of ${plural(allEdges, "transition")} with ${share(follows, allFollows)} of the steps. ` +
          `Hidden: ${share(totals.mapped - events, totals.mapped)} of the events${timeShare(totals.mapped_ns - time)}, ${share(allFollows - follows, allFollows)} of the steps.` +
          (data.nodes_more.nodes > 0
            ? ` ${plural(data.nodes_more.nodes, "activity", "activities")} with ${share(data.nodes_more.events, totals.mapped)} of the events${timeShare(data.nodes_more.duration_ns)} are not in this file.`
            : "");
    this.found.textContent =
      this.query === "" ? "" : `${plural(matches, "match", "matches")}${matches > 0 ? ", Enter jumps" : ""}`;
  }

  /** Goes to the next match, making it visible if a slider hides it. */
  jump(step) {
    const matches = this.stops.order.filter((index) => this.matches(this.data.nodes[index]));
    if (matches.length === 0) return;
    this.at = ((this.at ?? -1) + step + matches.length) % matches.length;
    this.reveal({ node: matches[this.at] });
    this.choose({ node: matches[this.at] });
  }

  /** Goes to a stop that shows an activity or, if there is one, a transition, and brings it to the middle. */
  reveal({ node, edge }) {
    if (edge !== undefined) {
      const found = this.layout.lines.has(edge)
        ? null
        : (this.stops.ofEdge(edge, this.stop) ?? this.stops.ofEdge(edge, 0));
      if (found) this.go(...found);
      const { from, to } = this.data.edges[edge];
      return this.reveal({ node: from >= 0 ? from : to });
    }
    if (node < 0) return;
    if (!this.nodeShown(node)) this.go(this.stops.ofNode(node));
    this.centre(this.box(node));
  }

  choose(what) {
    this.selected = what;
    this.update();
    this.select(what);
  }

  drawLegend() {
    clear(this.legend);
    if (this.colour === "groups") {
      const key = (index) =>
        s(
          "svg",
          { width: 34, height: 18, "aria-hidden": "true" },
          s("rect", {
            x: 1.5,
            y: 1.5,
            width: 31,
            height: 15,
            rx: 4,
            "stroke-width": 2.4,
            style: {
              fill: css(groupShade(index, isDark() ? 0.5 : 0.38)),
              stroke: GROUP_COLOURS[index % GROUP_COLOURS.length],
            },
            "stroke-dasharray": GROUP_DASHES[index % GROUP_DASHES.length] || null,
          }),
        );
      this.legend.append(
        ...this.data.groups.map((group, index) =>
          h("span", { class: "key" }, key(index), "only in ", h("b", null, shorten(visible(group.name), 40))),
        ),
        h(
          "span",
          { class: "key" },
          "Without a coloured border: in several groups, tinted towards the one that spends more time for each of its cases (full tint at 64 times). Colours: Okabe and Ito, safe for colour-blind readers; border styles differ too.",
        ),
      );
      return;
    }
    const ramp = h(
      "span",
      { class: "ramp", "aria-hidden": "true" },
      Array.from({ length: 24 }, (_, place) => h("i", { style: { background: css(shade(place / 23)) } })),
    );
    const measure = {
      rd: (n) => n.rd ?? 0,
      bytes: (n) => n.b,
      count: (n) => n.c,
      rate: (n) => n.r ?? 0,
      mc: (n) => n.m ?? 0,
    }[this.colour];
    const top = Math.max(...this.data.nodes.map(measure), 0);
    const text = { rd: percent, bytes, count, rate, mc: count }[this.colour];
    this.legend.append(
      h(
        "span",
        { class: "key" },
        `Node colour: ${COLOURS[this.colour]}`,
        " 0 ",
        ramp,
        ` ${this.colour === "rd" && this.data.totals.mapped_ns === null ? "unknown: no call has a duration" : text(top)}${this.colour === "rd" ? "" : " (square-root scale)"}`,
      ),
      h(
        "span",
        { class: "key" },
        "One hue from light to dark, safe for colour-blind readers. Load: share of time (bytes). DR: most calls at once × mean rate of one call.",
      ),
    );
  }

  /** What is shown, with a margin. */
  extent() {
    const [left, top, width, height] = this.layout.extent;
    return [left - 30, top - 20, width + 60, height + 40];
  }

  /** What the keys go to. */
  items() {
    return this.data.nodes
      .filter((node) => this.nodeShown(node.index) && !node.absent)
      .map(({ index }) => ({ id: index, box: this.box(index), element: this.nodeElements.get(index) }));
  }

  press(node) {
    this.choose({ node: Number(node) });
  }
}

/** The path of cubic Bézier curves through their control points, x and y in turn. */
export function curve(points) {
  const parts = [];
  for (let place = 2; place + 5 < points.length; place += 6) parts.push(`C${points.slice(place, place + 6).join(" ")}`);
  return `M${points[0]} ${points[1]}${parts.join("")}`;
}
