// All figures of one node or edge, human and exact, and the events behind them.

import { clear, h, name, shorten, visible } from "./dom.js";
import { bytes, count, duration, moment, percent, plural, rate } from "./format.js";
import { GROUP_COLOURS } from "./colour.js";

export function figures(rows) {
  return h(
    "table",
    { class: "figures" },
    h(
      "tbody",
      null,
      rows.map(([label, human, exact]) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, label),
          h("td", { class: "number" }, human),
          h("td", { class: "exact" }, exact ?? ""),
        ),
      ),
    ),
  );
}

const exactNs = (value) => (value === null ? "" : `${value.toLocaleString("en-US", { maximumFractionDigits: 1 })} ns`);
const ns = (value) => (value === null ? "" : `${count(value)} ns`);
const exactBytes = (value) => (value === null ? "" : `${count(value)} B`);

export function histogram(title, bins, unit, one = "event") {
  if (bins.length === 0) return null;
  const [first, last] = [bins[0][0], bins.at(-1)[1]];
  const filled = new Map(bins.map(([from, to, number]) => [from, [from, to, number]]));
  const all = [];
  for (let from = first; from < last;) {
    const bin = filled.get(from) ?? [from, Math.max(from * 2, 1), 0];
    all.push(bin);
    from = bin[1];
  }
  const top = Math.max(...bins.map((bin) => bin[2]));
  const total = bins.reduce((sum, bin) => sum + bin[2], 0);
  const modal = bins.reduce((best, bin) => (bin[2] > best[2] ? bin : best));
  return h(
    "figure",
    { class: "histogram" },
    h("figcaption", null, title),
    h(
      "div",
      {
        class: "columns",
        role: "img",
        "aria-label": `${title}: ${plural(total, one)} from ${unit(first)} to ${unit(last)}, most (${count(modal[2])}) from ${unit(modal[0])} to ${unit(modal[1])}`,
      },
      all.map(([from, to, number]) =>
        h("i", {
          style: { height: `${number > 0 ? Math.max((number / top) * 100, 2) : 0}%` },
          title: `${unit(from)} to ${unit(to)}: ${count(number)} (${percent(number / total)})`,
        }),
      ),
    ),
    h(
      "div",
      { class: "axis" },
      h("span", null, unit(first)),
      h("span", null, `most: ${unit(modal[0])} to ${unit(modal[1])} (${count(modal[2])})`),
      h("span", null, unit(last)),
    ),
  );
}

export function small(caption, heads, rows, more) {
  if (rows.length === 0) return null;
  return h(
    "section",
    null,
    h("h4", null, caption),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "small" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            heads.map((head, place) => h("th", { scope: "col", class: place > 0 ? "number" : null }, head)),
          ),
        ),
        h(
          "tbody",
          null,
          rows.map((cells) =>
            h(
              "tr",
              null,
              cells.map((cell, place) =>
                h(
                  place === 0 ? "th" : "td",
                  { class: place > 0 ? "number" : null, scope: place === 0 ? "row" : null },
                  cell,
                ),
              ),
            ),
          ),
        ),
      ),
    ),
    more ? h("p", { class: "status" }, more) : null,
  );
}

function swatch(index) {
  return h("i", {
    class: "swatch",
    "aria-hidden": "true",
    style: { background: GROUP_COLOURS[index % GROUP_COLOURS.length] },
  });
}

function groupTable(data, groups, heads, cells) {
  if (!groups) return null;
  return small(
    "In each group",
    ["Group", ...heads],
    data.groups.map((group, index) => [
      h("span", null, swatch(index), shorten(visible(group.name), 24)),
      ...(groups[index] ? cells(groups[index]) : heads.map(() => "–")),
    ]),
  );
}

function examples(data, node) {
  if (node.ex.length === 0) return null;
  return h(
    "section",
    null,
    h("h4", null, "Slowest events"),
    h(
      "ol",
      { class: "examples" },
      node.ex.map(([start, dur, key, pid, tid, call, path, offset, requested, size, errno]) =>
        h(
          "li",
          null,
          h("b", null, duration(dur)),
          " ",
          h("span", { class: "exact" }, ns(dur)),
          h("br"),
          h("code", null, visible(data.text(call))),
          " ",
          path === null ? "no path" : name(data.text(path), 56),
          h("br"),
          h(
            "span",
            { class: "exact" },
            moment(data, start),
            ` · case ${shorten(visible(data.text(key)), 40)} · pid ${pid}${tid === pid ? "" : ` thread ${tid}`}`,
            size === null
              ? ""
              : ` · ${bytes(size)}${requested !== null && requested !== size ? ` of ${bytes(requested)} asked` : ""}`,
            offset === null ? "" : ` at offset ${count(offset)}`,
            errno === null ? "" : ` · failed: ${visible(data.text(errno))}`,
          ),
        ),
      ),
    ),
  );
}

function nodePanel(data, node, timeline) {
  const [mean, p50, p95, p99, longest] = node.d;
  const [sizeMean, sizeP50, sizeP95, sizeMax] = node.s;
  const quantiles =
    node.c <= data.quantile_exact_limit
      ? ""
      : ` Quantiles here may be off by ${percent(data.quantile_relative_error)}.`;
  return [
    figures([
      ["Share of time", percent(node.rd), node.rd === null ? "no call has a duration" : node.rd.toFixed(6)],
      ["Total duration", duration(node.t), ns(node.t)],
      ["Events", count(node.c), percent(node.c / data.totals.mapped)],
      ["Failed", count(node.e), node.c > 0 ? percent(node.e / node.c) : ""],
      ["Cases", count(node.k), `of ${count(data.totals.cases)}`],
      ["Files", count(node.f)],
      ["Bytes", bytes(node.b), exactBytes(node.b)],
      [
        "Data rate of a call",
        rate(node.r),
        node.r === null
          ? "no call with size and duration"
          : `${node.r.toLocaleString("en-US", { maximumFractionDigits: 1 })} B/s`,
      ],
      ["Max. concurrent", count(node.m), `${data.concurrency_rule} rule`],
    ]),
    h("button", { type: "button", onclick: () => timeline(node.index) }, "Show in the timeline"),
    groupTable(data, node.g, ["Events", "Time", "Bytes", "Rate"], (g) => [
      count(g[0]),
      duration(g[3]),
      bytes(g[4]),
      rate(g[5]),
    ]),
    h(
      "section",
      null,
      h("h4", null, "Duration of an event"),
      figures([
        ["Mean", duration(mean), exactNs(mean)],
        ["Median", duration(p50), ns(p50)],
        ["95 % within", duration(p95), ns(p95)],
        ["99 % within", duration(p99), ns(p99)],
        ["Longest", duration(longest), ns(longest)],
      ]),
      histogram("Events by duration (powers of two)", node.dh, duration),
    ),
    sizeMax === null
      ? null
      : h(
          "section",
          null,
          h("h4", null, "Size of an event"),
          figures([
            ["Mean", bytes(sizeMean), `${sizeMean.toLocaleString("en-US", { maximumFractionDigits: 1 })} B`],
            ["Median", bytes(sizeP50), exactBytes(sizeP50)],
            ["95 % within", bytes(sizeP95), exactBytes(sizeP95)],
            ["Largest", bytes(sizeMax), exactBytes(sizeMax)],
          ]),
          histogram("Events by size (powers of two)", node.sh, bytes),
        ),
    quantiles ? h("p", { class: "status" }, quantiles) : null,
    small(
      "Files by time",
      ["File", "Events", "Time", "Bytes"],
      node.fl.map(([path, events, time, moved]) => [
        name(data.text(path), 40),
        count(events),
        duration(time),
        bytes(moved),
      ]),
      node.flm > 0 ? `and ${plural(node.flm, "more file")}.` : null,
    ),
    small(
      "Cases by time",
      ["Case", "Events", "Time", "Bytes"],
      node.cs.map(([key, events, time, moved]) => [
        name(data.text(key), 34),
        count(events),
        duration(time),
        bytes(moved),
      ]),
      node.csm > 0 ? `and ${plural(node.csm, "more case")}.` : null,
    ),
    examples(data, node),
  ];
}

function edgePanel(data, edge) {
  const out = data.edges.filter(({ from }) => from === edge.from).reduce((sum, { count: number }) => sum + number, 0);
  return [
    figures([
      ["Count", count(edge.count)],
      ["Share of the ways on", percent(edge.count / out), "from the activity before"],
      ["Cases", count(edge.cases), `of ${count(data.totals.cases)}`],
      ["Mean gap", duration(edge.mean), exactNs(edge.mean)],
      ["Median gap", duration(edge.p50), ns(edge.p50)],
      ["95 % within", duration(edge.p95), ns(edge.p95)],
      ["Total gap", duration(edge.sum), ns(edge.sum)],
    ]),
    h(
      "p",
      { class: "status" },
      edge.sum === null
        ? "At the start and the end of a trace there is no gap."
        : "The gap is the start of the follower minus the end of the call before; it is negative where calls overlap.",
    ),
    groupTable(data, edge.groups, ["Count", "Cases", "Total gap"], (g) => [count(g[0]), count(g[1]), duration(g[2])]),
  ];
}

export function panel(data, root, actions) {
  function close() {
    root.hidden = true;
    clear(root);
    actions.closed();
  }
  return function show(what) {
    if (!what) return void (root.hidden || close());
    const edge = what.edge === undefined ? null : data.edges[what.edge];
    const node = edge ? null : data.nodes[what.node];
    const title = edge ? `${visible(data.label(edge.from))} → ${visible(data.label(edge.to))}` : visible(node.name);
    const link = (index) =>
      index < 0
        ? null
        : h(
            "button",
            { type: "button", class: "link", onclick: () => actions.choose({ node: index }) },
            shorten(visible(data.label(index)), 44),
          );
    clear(root).append(
      h(
        "header",
        null,
        h(
          "div",
          null,
          h("p", { class: "kind" }, edge ? "Transition" : "Activity"),
          h("h3", { id: "panel-title", tabindex: "-1" }, title),
        ),
        h(
          "button",
          {
            type: "button",
            class: "close",
            "aria-label": "Close the figures",
            onclick: () => {
              actions.choose(null);
            },
          },
          "×",
        ),
      ),
      edge ? h("p", null, link(edge.from), edge.from < 0 || edge.to < 0 ? "" : " → ", link(edge.to)) : "",
      ...(edge ? edgePanel(data, edge) : nodePanel(data, node, actions.timeline)).filter(Boolean),
    );
    root.hidden = false;
    root.scrollTop = 0;
  };
}
