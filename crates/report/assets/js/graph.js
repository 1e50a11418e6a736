// The Directly-Follows Graph. Positions come with the data, so nothing moves when sliders hide a part of it.

import { choice, clear, h, s, shorten, visible } from "./dom.js";
import { bytes, count, duration, percent, plural, rate } from "./format.js";
import { EDGE_MEASURES, END, NODE_MEASURES, START } from "./data.js";
import { project } from "./projection.js";
import { Stage } from "./stage.js";
import { GROUP_COLOURS, GROUP_DASHES, css, groupShade, ink, isDark, neutral, shade } from "./colour.js";

const COLOURS = { rd: "relative duration", bytes: "bytes", count: "count", rate: "data rate", mc: "max concurrency" };

/** Width of a character in the graph's 12-unit monospace-free text, a little on the safe side. */
const CHARACTER = 7.4;

export class Graph extends Stage {
  constructor(data, root, select, part) {
    super();
    this.data = data;
    this.select = select;
    this.view = null;
    this.nodeMeasure = "rd";
    this.edgeMeasure = "count";
    this.colour = data.grouped ? "groups" : "rd";
    this.query = "";
    this.selected = null;
    this.rankNodes();
    this.rankEdges();
    this.nodeLimit = data.nodes.length;
    this.edgeLimit = data.edges.length;
    this.start();
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
    this.rankNodes();
    this.rankEdges();
    this.draw();
  }

  /** The whole graph if its titles can be read so, else its heaviest activity in the middle. */
  open() {
    this.fit();
    if (this.view.k < 1 && this.nodeOrder.length > 0) {
      this.view.k = 1;
      this.centre(this.box(this.nodeOrder[0]));
    }
    this.size = [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  /** Begins with as much as a reader can take in: the activities with 99 % of the time, at most 40, and their transitions. */
  start() {
    const { nodes, edges } = this.data;
    if (nodes.length > 24) {
      const weight = (node) => (this.data.totals.mapped_ns === null ? node.c : (node.t ?? 0));
      const total = nodes.reduce((sum, node) => sum + weight(node), 0);
      let sum = 0;
      const enough = this.nodeOrder.findIndex((index) => (sum += weight(nodes[index])) >= total * 0.99) + 1;
      this.nodeLimit = Math.min(Math.max(enough, 12), 40);
    }
    if (edges.length > 80) this.edgeLimit = Math.max(80, Math.round(edges.length * 0.25));
  }

  rankNodes() {
    const measure = NODE_MEASURES[this.nodeMeasure].of;
    const order = this.data.nodes.map((node) => node.index);
    order.sort((a, b) => measure(this.data.nodes[b]) - measure(this.data.nodes[a]) || a - b);
    this.nodeOrder = order;
    this.nodeRank = new Map(order.map((index, rank) => [index, rank]));
  }

  rankEdges() {
    const measure = (edge) =>
      this.edgeMeasure === "count" || this.edgeMeasure === "cases"
        ? EDGE_MEASURES[this.edgeMeasure].of(edge)
        : Math.abs(EDGE_MEASURES[this.edgeMeasure].of(edge) ?? 0);
    const order = [...this.data.edges].sort((a, b) => measure(b) - measure(a) || a.index - b.index);
    this.edgeOrder = order;
    this.edgeRank = new Map(order.map((edge, rank) => [edge.index, rank]));
  }

  /** The strongest way into and out of each shown activity stays, so that the graph does not fall apart. */
  findBackbone() {
    const [left, entered] = [new Set(), new Set()];
    this.backbone = new Set();
    if (this.edgeLimit === 0) return;
    for (const edge of this.edgeOrder) {
      if (edge.from === edge.to || !this.nodeShown(edge.from) || !this.nodeShown(edge.to)) continue;
      if (left.has(edge.from) && entered.has(edge.to)) continue;
      left.add(edge.from);
      entered.add(edge.to);
      this.backbone.add(edge.index);
    }
  }

  nodeShown(index) {
    return index < 0 || (this.nodeRank.get(index) < this.nodeLimit && !this.data.nodes[index].absent);
  }

  edgeShown(edge) {
    return (
      !edge.absent &&
      this.nodeShown(edge.from) &&
      this.nodeShown(edge.to) &&
      (this.edgeRank.get(edge.index) < this.edgeLimit || this.backbone.has(edge.index))
    );
  }

  build(root) {
    const { data } = this;
    const nodes = data.nodes.length;
    const edges = data.edges.length;
    const nodeSlider = h("input", {
      type: "range",
      id: "slider-activities",
      min: Math.min(1, nodes),
      max: nodes,
      value: this.nodeLimit,
      oninput: () => {
        this.nodeLimit = Number(nodeSlider.value);
        this.update();
      },
    });
    const edgeSlider = h("input", {
      type: "range",
      id: "slider-transitions",
      min: 0,
      max: edges,
      value: this.edgeLimit,
      oninput: () => {
        this.edgeLimit = Number(edgeSlider.value);
        this.update();
      },
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
        choice("Rank activities by", labels(NODE_MEASURES), this.nodeMeasure, (value) => {
          this.nodeMeasure = value;
          this.rankNodes();
          this.update();
        }),
        choice("Transitions show", labels(EDGE_MEASURES), this.edgeMeasure, (value) => {
          this.edgeMeasure = value;
          this.rankEdges();
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
    for (const [index, box, mark] of [
      [START, data.start, "●"],
      [END, data.end, "■"],
    ]) {
      const element = s(
        "g",
        { class: "terminal" },
        s("title", null, index === START ? "● start of every trace" : "■ end of every trace"),
        s("text", { "text-anchor": "middle", "dominant-baseline": "central", x: box[2] / 2, y: box[3] / 2 }, mark),
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
    this.world.append(this.projected, edges, labels, nodes);
    clear(this.canvas).append(s("defs", null, arrows), this.world);
    this.drawLegend();
    this.update();
    this.transform();
  }

  node(node) {
    const [, , width, height] = node.box;
    const paint = this.paint(node);
    const colour = ink(paint.fill);
    const limit = Math.max(Math.floor((width - 16) / CHARACTER), 6);
    const lines = [
      shorten(visible(node.name), limit),
      `Load: ${node.rd === null ? "–" : node.rd.toFixed(2)} (${bytes(node.b)})`,
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

  /** Where a node lies on the full layout. */
  place(index) {
    return index === START ? this.data.start : index === END ? this.data.end : this.data.nodes[index].box;
  }

  /** Where a node lies now. */
  box(index) {
    const [x, y, width, height] = this.place(index);
    return [this.across(x), this.down(y), width, height];
  }

  /** Closes the gaps that hidden activities leave, keeping the order, and puts everything in its place. */
  arrange() {
    const boxes = [
      START,
      END,
      ...this.data.nodes.filter((node) => this.nodeShown(node.index)).map((node) => node.index),
    ].map((index) => this.place(index));
    this.across = closer(
      boxes.map((box) => [box[0], box[0] + box[2]]),
      90,
    );
    this.down = closer(
      boxes.map((box) => [box[1], box[1] + box[3]]),
      80,
    );
    for (const [index, element] of this.nodeElements) {
      const [x, y] = this.box(index);
      element.setAttribute("transform", `translate(${x} ${y})`);
    }
    for (const edge of this.data.edges) {
      const { lines, label } = this.edgeElements.get(edge.index);
      const { d, middle } = this.route(edge);
      lines.forEach((line) => line.setAttribute("d", d));
      label.setAttribute("x", middle[0]);
      label.setAttribute("y", middle[1]);
    }
  }

  /** The path of an edge: the given route, or a curve from border to border. */
  route(edge) {
    if (edge.route) {
      const moved = edge.route.map((value, place) => (place % 2 === 0 ? this.across(value) : this.down(value)));
      return curve(moved, this.data.curve, edge.at && [this.across(edge.at[0]), this.down(edge.at[1])]);
    }
    return straight(this.box(edge.from), this.box(edge.to), edge.from === edge.to);
  }

  /**
   * What hidden activities join, dashed: as strong as the transitions that are shown, and whatever joins a node that has no shown
   * transition.
   */
  drawProjected() {
    clear(this.projected);
    if (this.edgeLimit === 0) return;
    const shown = this.data.edges.filter((edge) => edge.from !== edge.to && this.edgeShown(edge));
    const pairs = new Set(shown.map(({ from, to }) => `${from} ${to}`));
    const [left, entered] = [new Set(shown.map(({ from }) => from)), new Set(shown.map(({ to }) => to))];
    const weakest = this.data.edges
      .filter((edge) => this.edgeRank.get(edge.index) < this.edgeLimit)
      .reduce((least, edge) => Math.min(least, edge.count), Infinity);
    for (const way of project(this.data.edges, (index) => this.nodeShown(index))) {
      if (pairs.has(`${way.from} ${way.to}`)) continue;
      if (way.count < weakest && left.has(way.from) && entered.has(way.to)) continue;
      this.projected.append(this.projectedEdge(way));
    }
  }

  projectedEdge({ from, to, count: number, hidden }) {
    const { d, middle } = straight(this.box(from), this.box(to), false);
    const through = hidden.map((index) => visible(this.data.label(index))).join(" → ");
    return s(
      "g",
      { class: "projected" },
      s(
        "title",
        null,
        `${visible(this.data.label(from))} → ${through} → ${visible(this.data.label(to))}: at most ${count(number)} times`,
      ),
      s("path", { class: "line", d, "marker-end": "url(#arrow)" }),
      s(
        "text",
        { class: "edge-label", "text-anchor": "middle", "dominant-baseline": "central", x: middle[0], y: middle[1] },
        `${count(hidden.length)} hidden`,
      ),
    );
  }

  matches(node) {
    return this.query !== "" && visible(node.name).toLowerCase().includes(this.query);
  }

  /** Shows and hides, marks matches, and says what is hidden. */
  update() {
    const { data } = this;
    this.findBackbone();
    this.arrange();
    this.drawProjected();
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
      matches += match;
      if (!shown) continue;
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
      if (!shown) continue;
      edges += 1;
      follows += edge.count;
    }
    const totals = data.totals;
    const allNodes = data.nodes.length + data.nodes_more.nodes;
    const allEdges = data.edges.length + data.edges_more.edges;
    const allFollows = data.edges.reduce((sum, edge) => sum + edge.count, 0) + data.edges_more.count;
    this.sliders.nodeText.textContent = `${count(nodes)} of ${count(allNodes)}`;
    this.sliders.edgeText.textContent = `${count(edges)} of ${count(allEdges)}`;
    this.sliders.nodeSlider.setAttribute("aria-valuetext", `${count(nodes)} of ${count(allNodes)} activities`);
    this.sliders.edgeSlider.setAttribute("aria-valuetext", `${count(edges)} of ${count(allEdges)} transitions`);
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
    const matches = this.nodeOrder.filter((index) => this.matches(this.data.nodes[index]));
    if (matches.length === 0) return;
    this.at = ((this.at ?? -1) + step + matches.length) % matches.length;
    this.reveal(matches[this.at]);
    this.choose({ node: matches[this.at] });
  }

  /** Makes a node visible and brings it to the middle. */
  reveal(index) {
    const rank = this.nodeRank.get(index);
    if (rank >= this.nodeLimit) {
      this.nodeLimit = rank + 1;
      this.sliders.nodeSlider.value = this.nodeLimit;
      this.update();
    }
    this.centre(this.box(index));
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
    const boxes = [
      START,
      END,
      ...this.data.nodes.filter((node) => this.nodeShown(node.index)).map((node) => node.index),
    ].map((index) => this.box(index));
    const [left, top] = [Math.min(...boxes.map((box) => box[0])), Math.min(...boxes.map((box) => box[1]))];
    const [right, bottom] = [
      Math.max(...boxes.map((box) => box[0] + box[2])),
      Math.max(...boxes.map((box) => box[1] + box[3])),
    ];
    return [left - 30, top - 20, right - left + 80, bottom - top + 40];
  }

  /** What the keys go to. */
  items() {
    return this.data.nodes
      .filter((node) => this.nodeShown(node.index))
      .map(({ index }) => ({ id: index, box: this.box(index), element: this.nodeElements.get(index) }));
  }

  press(node) {
    this.choose({ node: Number(node) });
  }
}

/** A coordinate as it is when gaps between intervals are at most `widest`: what lies in an interval moves with it. */
function closer(intervals, widest) {
  const steps = [];
  let [end, moved] = [null, 0];
  for (const [from, to] of intervals.toSorted((a, b) => a[0] - b[0])) {
    if (end !== null && from - end > widest) {
      steps.push({ from: end, to: from, start: end - moved });
      moved += from - end - widest;
    }
    end = end === null ? to : Math.max(end, to);
  }
  return (value) => {
    let shift = 0;
    for (const step of steps) {
      if (value <= step.from) break;
      if (value < step.to) return step.start + ((value - step.from) / (step.to - step.from)) * widest;
      shift += step.to - step.from - widest;
    }
    return value - shift;
  };
}

/** A curve from border to border, of a box to itself a loop. */
export function straight([ax, ay, aw, ah], [bx, by, bw, bh], loop, sideways = false) {
  if (loop) {
    const [x, y] = [ax + aw, ay + ah / 2];
    return { d: `M${x} ${y - 10}C${x + 42} ${y - 26} ${x + 42} ${y + 26} ${x} ${y + 10}`, middle: [x + 40, y] };
  }
  if (sideways) {
    const [from, to] = bx > ax ? [ax + aw, bx] : [ax, bx + bw];
    const bend = (to - from) / 2 || 40;
    const [start, end] = [ay + ah / 2, by + bh / 2];
    return {
      d: `M${from} ${start}C${from + bend} ${start} ${to - bend} ${end} ${to} ${end}`,
      middle: [(from + to) / 2, (start + end) / 2],
    };
  }
  const down = by > ay;
  const from = [ax + aw / 2, down ? ay + ah : ay];
  const to = [bx + bw / 2, down ? by : by + bh];
  const bend = (to[1] - from[1]) / 2 || 40;
  return {
    d: `M${from[0]} ${from[1]}C${from[0]} ${from[1] + bend} ${to[0]} ${to[1] - bend} ${to[0]} ${to[1]}`,
    middle: [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2],
  };
}

/** A path through points: cubic Bézier control points, or corners to be rounded. */
export function curve(route, kind, label) {
  const points = [];
  for (let place = 0; place + 1 < route.length; place += 2) points.push([route[place], route[place + 1]]);
  const at = points[Math.floor(points.length / 2)];
  const before = points[Math.max(Math.ceil(points.length / 2) - 1, 0)];
  const middle = label ?? [(at[0] + before[0]) / 2, (at[1] + before[1]) / 2];
  const text = (point) => point.join(" ");
  if (kind === "bezier" && points.length >= 4) {
    const parts = [];
    for (let place = 1; place + 2 < points.length; place += 3)
      parts.push(`C${text(points[place])} ${text(points[place + 1])} ${text(points[place + 2])}`);
    return { d: `M${text(points[0])}${parts.join("")}`, middle };
  }
  let d = `M${text(points[0])}`;
  for (let place = 1; place + 1 < points.length; place += 1) {
    const next = points[place + 1];
    const end =
      place + 2 === points.length ? next : [(points[place][0] + next[0]) / 2, (points[place][1] + next[1]) / 2];
    d += `Q${text(points[place])} ${text(end)}`;
  }
  if (points.length === 2) d += `L${text(points[1])}`;
  return { d, middle };
}
