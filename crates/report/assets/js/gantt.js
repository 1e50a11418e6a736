// Processes over time, in the order of the tree. Many siblings of one group share a row until it is opened.

import { clear, h, name, s, shorten, visible } from "./dom.js";
import { bytes, count, duration, moment, percent, plural, roundStep, told } from "./format.js";
import { dot, groupName, hue, hueLegend } from "./hues.js";
import { figures } from "./panel.js";
import { Side } from "./side.js";
import { tick } from "./timeline.js";

const MANY = 6;
const FIRST_ROWS = 60;
const STEP_ROWS = 100;
const WIDTH = 1000;
const BINS = 250;

/** Named access to the rows of the data. */
function process(
  [parent, group, pid, label, command, start, end, cpu, read, written, exit, signal, images, hidden, of],
  index,
) {
  return {
    index,
    parent,
    group,
    pid,
    label,
    command,
    start,
    end,
    cpu,
    read,
    written,
    exit,
    signal,
    images,
    hidden,
    of,
    children: [],
  };
}

export function loadProcesses(data) {
  const rows = data.workflow.processes.list.map(process);
  for (const row of rows) if (row.parent >= 0) rows[row.parent].children.push(row);
  return rows;
}

export class Gantt {
  constructor(data, root, side, part) {
    this.data = data;
    this.rows = loadProcesses(data);
    this.last = data.workflow.processes.end;
    const starts = this.rows.map((row) => row.start).filter((start) => start !== null);
    this.whole = [Math.min(...starts, this.last), this.last];
    if (this.whole[1] <= this.whole[0]) this.whole[1] = this.whole[0] + 1;
    this.range = [...this.whole];
    this.selected = null;
    this.tree = this.branch(
      this.rows.filter((row) => row.parent < 0),
      1,
    );
    this.byProcess = new Map();
    this.openFirst();
    this.build(root, side);
    this.draw();
    part?.listen(() => {
      if (part.isWhole) this.range = [...this.whole];
      else this.look(part.span[0], Math.min(part.span[1] - part.span[0], this.whole[1] - this.whole[0]));
      this.draw();
    });
  }

  /** Siblings as they are shown: one by one, or many of a group as one. */
  branch(siblings, level) {
    const groups = new Map();
    for (const row of siblings) groups.get(row.group)?.push(row) ?? groups.set(row.group, [row]);
    const items = [];
    const seen = new Set();
    for (const row of siblings) {
      const members = groups.get(row.group);
      if (members.length <= MANY) items.push(this.item(row, level));
      else if (!seen.has(row.group)) {
        seen.add(row.group);
        items.push({ many: members, group: row.group, level, open: false, limit: STEP_ROWS });
      }
    }
    return items;
  }

  item(row, level) {
    return { row, group: row.group, level, open: false, limit: STEP_ROWS };
  }

  /** What is below an item, made when it is first asked for. */
  below(item) {
    item.children ??= item.many
      ? item.many.map((row) => this.item(row, item.level + 1))
      : this.branch(item.row.children, item.level + 1);
    for (const child of item.children) child.above = item;
    return item.children;
  }

  opens(item) {
    return Boolean(item.many) || item.row.children.length > 0;
  }

  /** Opens single processes level by level while there is room for what is in them. */
  openFirst() {
    let room = FIRST_ROWS - this.tree.length;
    let level = this.tree;
    while (level.length > 0) {
      const next = [];
      for (const item of level.filter((one) => one.row && this.opens(one))) {
        const children = this.below(item);
        if (children.length > room) continue;
        room -= children.length;
        item.open = true;
        next.push(...children);
      }
      level = next;
    }
  }

  /** The rows as shown, from top to bottom. */
  shown() {
    const list = [];
    const add = (items) => {
      for (const item of items) {
        list.push(item);
        if (!item.open) continue;
        const children = this.below(item);
        add(children.slice(0, item.limit));
        if (children.length > item.limit)
          list.push({ rest: children.length - item.limit, of: item, level: item.level + 1 });
      }
    };
    add(this.tree);
    return list;
  }

  build(root, side) {
    const button = (text, label, action) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    this.axis = s("svg", { class: "gantt-axis", "aria-hidden": "true" });
    this.body = h("div", {
      class: "gantt-rows",
      role: "tree",
      "aria-label":
        "Processes in the order of the tree. Arrow keys move, right opens, left closes, Enter shows the figures, plus and minus zoom in time, 0 shows the whole time.",
      onkeydown: (event) => this.key(event),
      onclick: (event) => this.click(event),
    });
    this.tip = h("div", { class: "tip", hidden: true });
    this.frame = h(
      "div",
      { class: "gantt", id: "gantt-frame" },
      h(
        "div",
        { class: "gantt-head" },
        h("span", { class: "gantt-label" }, "Process"),
        this.axis,
        h("span", { class: "gantt-figure" }, "Life"),
      ),
      this.body,
      this.tip,
    );
    this.status = h("p", { class: "status", id: "gantt-status", role: "status" });
    this.side = new Side(root.parentElement, side, () => {
      this.selected = null;
      this.draw();
      this.body.querySelector('[tabindex="0"]')?.focus();
    });
    root.append(
      h(
        "div",
        { class: "toolbar" },
        h(
          "div",
          { class: "group" },
          button("Open all", "Open as many rows as fit", () => this.all(true)),
          button("Close all", "Close all rows", () => this.all(false)),
        ),
        h("span", { class: "spring" }),
        h(
          "div",
          { class: "group", role: "group", "aria-label": "Zoom in time" },
          button("←", "Earlier", () => this.pan(-0.25)),
          button("→", "Later", () => this.pan(0.25)),
          button("+", "Zoom in", () => this.zoom(2)),
          button("−", "Zoom out", () => this.zoom(0.5)),
          button("All", "Whole time", () => this.zoom(0)),
        ),
      ),
      this.status,
      this.frame,
      h(
        "div",
        { class: "legend" },
        hueLegend(
          this.data,
          [...new Set(this.rows.map((row) => row.group))].sort((a, b) => (a < 0) - (b < 0) || a - b),
        ),
        h(
          "span",
          { class: "key" },
          "A row of many processes shows how many of them were alive. A bar that fades out has no known end.",
        ),
      ),
    );
    this.pointer();
    new ResizeObserver(() => this.drawAxis()).observe(this.axis);
  }

  all(open) {
    if (open) this.openFirst();
    const close = (items) =>
      items.forEach((item) => {
        if (item.children) close(item.children);
        item.open = false;
      });
    if (!open) close(this.tree);
    if (!open)
      this.tree.forEach((item) => {
        if (this.opens(item) && item.row) item.open = this.tree.length === 1;
      });
    if (open) {
      let room = 400 - this.shown().length;
      for (let next = this.shown(); next.length > 0;) {
        const found = next.filter(
          (item) => !item.rest && this.opens(item) && !item.open && this.below(item).length <= room,
        );
        if (found.length === 0) break;
        for (const item of found) {
          if (this.below(item).length > room) continue;
          room -= this.below(item).length;
          item.open = true;
        }
        next = this.shown();
      }
    }
    this.draw();
  }

  place(time) {
    return ((time - this.range[0]) / (this.range[1] - this.range[0])) * WIDTH;
  }

  clip(value) {
    return Math.min(Math.max(value, -5), WIDTH + 5);
  }

  ends(row) {
    return [row.start ?? this.whole[0], row.end ?? this.last];
  }

  bar(row) {
    const [from, to] = this.ends(row).map((time) => this.clip(this.place(time)));
    return s("rect", {
      x: from.toFixed(2),
      width: Math.max(to - from, 1.2).toFixed(2),
      y: 3,
      height: 12,
      rx: 1.5,
      class: row.end === null ? "open-end" : null,
      style: { fill: hue(row.group) },
    });
  }

  /** How many of the members are alive in each bin, as an area. */
  area(members) {
    const change = new Float64Array(BINS + 2);
    for (const row of members) {
      const [from, to] = this.ends(row).map((time) =>
        Math.min(Math.max(Math.floor((this.place(time) / WIDTH) * BINS), -1), BINS),
      );
      if (to < 0 || from >= BINS) continue;
      change[Math.max(from, 0)] += 1;
      change[to + 1] -= 1;
    }
    let now = 0;
    const alive = Array.from({ length: BINS }, (_, bin) => (now += change[bin]));
    const most = Math.max(...alive, 1);
    const step = WIDTH / BINS;
    let d = "M0 17";
    alive.forEach((value, bin) => {
      const y = (17 - (value > 0 ? Math.max((value / most) * 15, 1.5) : 0)).toFixed(1);
      d += `L${(bin * step).toFixed(1)} ${y}L${((bin + 1) * step).toFixed(1)} ${y}`;
    });
    return { path: s("path", { d: `${d}L${WIDTH} 17Z`, style: { fill: hue(members[0].group) } }), most };
  }

  track(item) {
    const drawing = s("svg", {
      class: "gantt-track",
      viewBox: `0 0 ${WIDTH} 18`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    });
    drawing.append(item.many ? this.area(item.many).path : this.bar(item.row));
    return drawing;
  }

  title(item) {
    return item.many
      ? `${groupName(this.data, item.group)} × ${count(item.many.length)}`
      : visible(this.data.text(item.row.label));
  }

  /** The lifetime, of several the sum, if time stamps tell it. */
  told(item) {
    const lives = (item.many ?? [item.row]).map((row) => told(this.data, this.life({ row })));
    return lives.includes(null) ? null : lives.reduce((sum, life) => sum + life, 0);
  }

  life(item) {
    if (item.many) return item.many.reduce((sum, row) => sum + this.life({ row }), 0);
    return item.row.start === null ? 0 : this.ends(item.row)[1] - item.row.start;
  }

  draw() {
    this.list = this.shown();
    this.at = Math.min(this.at ?? 0, this.list.length - 1);
    clear(this.body).append(...this.list.map((item, place) => this.drawRow(item, place)));
    this.drawAxis();
    const processes = this.rows.length;
    const single = this.list.filter((item) => item.row).length;
    const more = this.data.workflow.processes.more;
    this.status.textContent =
      `${plural(processes, "process", "processes")} in ${plural(this.list.filter((item) => !item.rest).length, "row")}; ${count(single)} ${single === 1 ? "has" : "have"} a row of ${single === 1 ? "its" : "their"} own. ` +
      `Shown: +${duration(Math.max(this.range[0] - this.whole[0], 0))} to +${duration(this.range[1] - this.whole[0])} after the first start.` +
      (more > 0
        ? ` ${plural(more, "process", "processes")} with shorter lives ${more === 1 ? "is" : "are"} not in this file.`
        : "");
  }

  drawRow(item, place) {
    const common = {
      role: "treeitem",
      "aria-level": item.level,
      "data-row": place,
      tabindex: place === this.at ? "0" : "-1",
      style: { "--level": item.level - 1 },
    };
    if (item.rest)
      return h(
        "div",
        { class: "gantt-row more", ...common },
        h(
          "span",
          { class: "gantt-label" },
          `Show ${count(Math.min(item.rest, STEP_ROWS))} of ${count(item.rest)} more`,
        ),
      );
    const opens = this.opens(item);
    const life = this.told(item);
    const title = this.title(item);
    const chosen = this.selected && (item.many ? this.selected.many === item.many : this.selected.row === item.row);
    return h(
      "div",
      {
        class: `gantt-row${chosen ? " selected" : ""}${item.many ? " many" : ""}`,
        ...common,
        "aria-expanded": opens ? String(item.open) : null,
        "aria-selected": String(Boolean(chosen)),
        "aria-label": item.many
          ? `${title} processes, alive for ${duration(life)} together`
          : `${title}, process ${item.row.pid}, ${item.row.end === null ? "end never seen" : `alive for ${duration(life)}`}`,
      },
      h(
        "span",
        { class: "gantt-label" },
        h("span", { class: "twisty", "aria-hidden": "true" }, opens ? (item.open ? "▾" : "▸") : ""),
        dot(item.group),
        h("span", { class: "gantt-name", title }, shorten(title, 30)),
        item.many ? null : h("span", { class: "pid" }, String(item.row.pid)),
      ),
      this.track(item),
      h(
        "span",
        { class: "gantt-figure" },
        item.many ? `Σ ${duration(life)}` : item.row.end === null ? `≥ ${duration(life)}` : duration(life),
      ),
    );
  }

  drawAxis() {
    const width = this.axis.clientWidth;
    if (width === 0) return;
    clear(this.axis);
    this.axis.setAttribute("viewBox", `0 0 ${width} 20`);
    const [from, to] = this.range.map((time) => time - this.whole[0]);
    const step = roundStep(to - from, Math.max(width / 100, 2));
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const x = ((time - from) / (to - from)) * width;
      if (x > width - 24) break;
      this.axis.append(
        s("path", { d: `M${x.toFixed(1)} 14V20`, class: "tick" }),
        s(
          "text",
          { x: (x + (x < 20 ? 2 : 0)).toFixed(1), y: 11, "text-anchor": x < 20 ? "start" : "middle" },
          tick(time, step, to),
        ),
      );
    }
    this.body.style.setProperty("--grid", `${((step / (to - from)) * 100).toFixed(3)}%`);
  }

  zoom(factor, centre = (this.range[0] + this.range[1]) / 2) {
    if (factor === 0) this.range = [...this.whole];
    else {
      const [from, to] = this.range;
      const span = Math.min(Math.max((to - from) / factor, 1000), this.whole[1] - this.whole[0]);
      this.look(centre - (span * (centre - from)) / (to - from), span);
    }
    this.draw();
  }

  pan(share) {
    const span = this.range[1] - this.range[0];
    this.look(this.range[0] + span * share, span);
    this.draw();
  }

  look(from, span) {
    const start = Math.max(this.whole[0], Math.min(from, this.whole[1] - span));
    this.range = [start, start + span];
  }

  toggle(item, open = !item.open) {
    if (item.rest) item.of.limit += STEP_ROWS;
    else if (this.opens(item)) item.open = open;
    this.draw();
    this.focus(this.at);
  }

  focus(place) {
    this.at = Math.max(0, Math.min(place, this.list.length - 1));
    for (const row of this.body.children) row.tabIndex = Number(row.dataset.row) === this.at ? 0 : -1;
    this.body.children[this.at]?.focus();
  }

  key(event) {
    const item = this.list[this.at];
    if (!item) return;
    const last = this.list.length - 1;
    const actions = {
      ArrowDown: () => this.focus(this.at + 1),
      ArrowUp: () => this.focus(this.at - 1),
      Home: () => this.focus(0),
      End: () => this.focus(last),
      ArrowRight: () => {
        if (event.shiftKey) (this.pan(0.1), this.focus(this.at));
        else if (item.rest || (this.opens(item) && !item.open)) this.toggle(item);
        else if (item.open) this.focus(this.at + 1);
      },
      ArrowLeft: () => {
        if (event.shiftKey) (this.pan(-0.1), this.focus(this.at));
        else if (item.open) this.toggle(item, false);
        else if (item.above) this.focus(this.list.indexOf(item.above));
      },
      Enter: () => (item.rest ? this.toggle(item) : this.choose(item)),
      " ": () => this.toggle(item),
      Escape: () => this.side.close(),
      "+": () => {
        this.zoom(1.5);
        this.focus(this.at);
      },
      "=": () => {
        this.zoom(1.5);
        this.focus(this.at);
      },
      "-": () => {
        this.zoom(1 / 1.5);
        this.focus(this.at);
      },
      0: () => {
        this.zoom(0);
        this.focus(this.at);
      },
    };
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  }

  click(event) {
    if (this.dragged) return;
    const row = event.target.closest("[data-row]");
    if (!row) return;
    this.at = Number(row.dataset.row);
    const item = this.list[this.at];
    if (item.rest || event.target.closest(".twisty")) this.toggle(item);
    else this.choose(item);
  }

  choose(item) {
    this.selected = item;
    this.tip.hidden = true;
    this.draw();
    this.focus(this.at);
    if (item.many) this.showMany(item);
    else this.showProcess(item.row);
  }

  /** Opens the rows above a process and shows it. */
  reveal(index) {
    const line = [];
    for (let at = index; at >= 0; at = this.rows[at].parent) line.unshift(this.rows[at]);
    let items = this.tree;
    let found = null;
    for (const row of line) {
      const many = items.find((item) => item.many?.includes(row));
      if (many) {
        many.open = true;
        many.limit = Math.max(many.limit, many.many.indexOf(row) + 1);
        items = this.below(many);
      }
      found = items.find((item) => item.row === row);
      if (row !== line.at(-1)) {
        found.open = true;
        items = this.below(found);
        found.limit = Math.max(found.limit, items.length);
      }
    }
    this.draw();
    this.at = this.list.indexOf(found);
    this.choose(found);
  }

  /** Shows the first row of a group. */
  group(index) {
    const first = this.rows.find((row) => row.group === index);
    if (!first) return;
    this.reveal(first.index);
    const above = this.selected.above;
    if (above?.many) {
      above.open = false;
      this.draw();
      this.at = this.list.indexOf(above);
      this.choose(above);
    }
  }

  showMany(item) {
    const { data } = this;
    const members = item.many;
    const sum = (of) => members.reduce((total, row) => total + (of(row) ?? 0), 0);
    const longest = [...members].sort((a, b) => this.life({ row: b }) - this.life({ row: a })).slice(0, 12);
    const failed = members.filter((row) => (row.exit ?? 0) !== 0 || row.signal !== null).length;
    this.side.show("Processes of one group", this.title(item), [
      figures([
        ["Processes", count(members.length)],
        ["Alive at once", count(this.area(members).most), "at most, in what is shown"],
        ["Lives", duration(this.told(item)), "sum"],
        ["CPU time", members.every((row) => row.cpu === null) ? "unknown" : duration(sum((row) => row.cpu)), "sum"],
        ["Read", bytes(sum((row) => row.read)), "system calls"],
        ["Written", bytes(sum((row) => row.written)), "system calls"],
        ["Failed", count(failed), "exit status or signal"],
      ]),
      h("button", { type: "button", onclick: () => this.toggle(item) }, item.open ? "Close the row" : "Open the row"),
      h(
        "section",
        null,
        h("h4", null, "Longest lives"),
        h(
          "ul",
          { class: "plain" },
          longest.map((row) =>
            h(
              "li",
              null,
              h(
                "button",
                { type: "button", class: "link", onclick: () => this.reveal(row.index) },
                `${visible(data.text(row.label))} ${row.pid}`,
              ),
              ` ${duration(this.told({ row }))}`,
            ),
          ),
        ),
      ),
    ]);
  }

  showProcess(row) {
    const { data } = this;
    const life = this.told({ row });
    const parent = this.rows[row.parent];
    const link = (one) =>
      h(
        "button",
        { type: "button", class: "link", onclick: () => this.reveal(one.index) },
        `${visible(data.text(one.label))} ${one.pid}`,
      );
    this.side.show("Process", visible(data.text(row.label)), [
      h("p", null, dot(row.group), `group ${groupName(data, row.group)}`),
      row.command === null
        ? h("p", { class: "status" }, "The command line is unknown.")
        : h("p", null, h("code", null, visible(data.text(row.command)))),
      figures([
        ["Process", String(row.pid)],
        ["Made by", parent ? link(parent) : "nobody recorded"],
        [
          "Made",
          row.children.length + row.hidden > 0
            ? plural(row.children.length + row.hidden, "process", "processes")
            : "nobody",
        ],
        [
          "Began",
          row.start === null ? "unknown" : `+${duration(row.start - this.whole[0])}`,
          row.start === null ? "" : moment(data, row.start),
        ],
        [
          "Ended",
          row.end === null ? "never seen" : `+${duration(row.end - this.whole[0])}`,
          row.end === null ? "" : moment(data, row.end),
        ],
        ["Life", row.end === null ? `≥ ${duration(life)}` : duration(life), life === null ? "" : `${count(life)} ns`],
        [
          "CPU time",
          row.cpu === null ? "unknown" : duration(row.cpu),
          row.cpu === null || !life ? "" : `${percent(row.cpu / life)} of its life`,
        ],
        ["Read", bytes(row.read), `${count(row.read)} B by calls`],
        ["Written", bytes(row.written), `${count(row.written)} B by calls`],
        [
          "Exit",
          row.signal !== null
            ? `killed by ${visible(data.text(row.signal))}`
            : row.exit === null
              ? "unknown"
              : String(row.exit),
        ],
        ["Executables", count(row.images), row.images > 1 ? "one after the other" : ""],
      ]),
      h("p", { class: "status" }, "Case: ", name(data.text(row.of), 60)),
    ]);
  }

  /** A drag moves in time, Ctrl and wheel zoom, a still pointer names what is under it. */
  pointer() {
    const { body, tip } = this;
    let held = null;
    const time = (event) => {
      const frame = body.querySelector(".gantt-track")?.getBoundingClientRect();
      return frame
        ? this.range[0] + ((event.clientX - frame.left) / frame.width) * (this.range[1] - this.range[0])
        : this.range[0];
    };
    body.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * 0.004), time(event));
      },
      { passive: false },
    );
    body.addEventListener("pointerdown", (event) => {
      if (event.target.closest(".gantt-track") && event.button === 0) {
        held = { time: time(event), x: event.clientX };
        this.dragged = false;
      }
    });
    body.addEventListener("pointermove", (event) => {
      if (held && Math.abs(event.clientX - held.x) > 4) {
        this.dragged = true;
        this.pan((held.time - time(event)) / (this.range[1] - this.range[0]));
        tip.hidden = true;
      } else if (!held) this.hover(event);
    });
    for (const kind of ["pointerup", "pointercancel"])
      addEventListener(kind, () => {
        if (held) {
          held = null;
          setTimeout(() => {
            this.dragged = false;
          });
        }
      });
    body.addEventListener("pointerleave", () => {
      tip.hidden = true;
    });
  }

  hover(event) {
    const { tip, data } = this;
    const item = this.list[event.target.closest("[data-row]")?.dataset.row];
    tip.hidden = !item || Boolean(item.rest);
    if (tip.hidden) return;
    const life = duration(this.told(item));
    const command = item.row && item.row.command !== null ? shorten(visible(data.text(item.row.command)), 120) : null;
    const moved = (rows) =>
      `${bytes(rows.reduce((sum, row) => sum + row.read, 0))} read, ${bytes(rows.reduce((sum, row) => sum + row.written, 0))} written`;
    clear(tip).append(
      h("b", null, this.title(item)),
      item.row ? ` ${item.row.pid}` : "",
      h("br"),
      item.many
        ? `${life} together, at most ${count(this.area(item.many).most)} at once here`
        : item.row.end === null
          ? `${life}, end never seen`
          : life,
      h("br"),
      moved(item.many ?? [item.row]),
      ...(command ? [h("br"), h("code", null, command)] : []),
    );
    const frame = this.frame.getBoundingClientRect();
    const left = Math.min(event.clientX - frame.left + 14, frame.width - tip.offsetWidth - 4);
    tip.style.transform = `translate(${Math.max(left, 0)}px, ${event.clientY - frame.top + 16}px)`;
  }
}
