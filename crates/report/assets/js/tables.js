// The same figures as tables: activities, transitions, cases, calls.

import { h, name } from "./dom.js";
import { bytes, count, duration, percent, plural, rate, told } from "./format.js";
import { table } from "./table.js";

const text = (key, label, of, limit) => ({ key, label, value: of, text: (row) => name(of(row) ?? "–", limit ?? 56) });
const number = (key, label, of, show, title) => ({
  key,
  label,
  number: true,
  value: of,
  text: (row) => show(of(row), row),
  title,
});

function totals(at) {
  return [
    number("count", "Events", (row) => row[at], count),
    number("failures", "Failed", (row) => row[at + 1], count),
    number("duration_ns", "Time", (row) => row[at + 2], duration),
    number("read", "Read", (row) => row[at + 3], bytes),
    number("written", "Written", (row) => row[at + 4], bytes),
    number("copied", "Copied", (row) => row[at + 5], bytes, "Moved from one descriptor to another inside the kernel"),
  ];
}

function left(more, one, many, rest) {
  return more > 0
    ? `${plural(more, `more ${one}`, `more ${many}`)}${rest ? ` with ${rest}` : ""} not in this file`
    : null;
}

export function tables(data, root, choose) {
  const all = data.totals.mapped_ns;
  const sheets = {
    activities: [
      "Activities",
      () =>
        table(
          [
            text("activity", "Activity", (node) => node.name),
            number("count", "Events", (n) => n.c, count),
            number("relative_duration", "Share of time", (n) => n.rd, percent),
            number("duration_ns", "Time", (n) => n.t, duration),
            number("bytes", "Bytes", (n) => n.b, bytes),
            number("data_rate", "Rate of a call", (n) => n.r, rate),
            number("max_concurrency", "Max. concurrent", (n) => n.m, count),
            number("cases", "Cases", (n) => n.k, count),
            number("files", "Files", (n) => n.f, count),
            number("failures", "Failed", (n) => n.e, count),
            number("p50_ns", "Median", (n) => n.d[1], duration),
            number("p95_ns", "95 %", (n) => n.d[2], duration),
            number("max_ns", "Longest", (n) => n.d[4], duration),
          ],
          {
            rows: data.nodes,
            sort: "duration_ns",
            caption: "Activities",
            file: "activities",
            more: left(
              data.nodes_more.nodes,
              "activity",
              "activities",
              all === null ? null : `${percent(data.nodes_more.duration_ns / Math.max(all, 1))} of the time`,
            ),
            open: (node) => choose({ node: node.index }),
          },
        ),
    ],
    transitions: [
      "Transitions",
      () =>
        table(
          [
            text("from", "From", (edge) => data.label(edge.from), 44),
            text("to", "To", (edge) => data.label(edge.to), 44),
            number("count", "Count", (e) => e.count, count),
            number("cases", "Cases", (e) => e.cases, count),
            number("mean_gap_ns", "Mean gap", (e) => e.mean, duration),
            number("p50_gap_ns", "Median gap", (e) => e.p50, duration),
            number("p95_gap_ns", "95 %", (e) => e.p95, duration),
            number("gap_sum_ns", "Total gap", (e) => e.sum, duration),
          ],
          {
            rows: data.edges,
            sort: "count",
            caption: "Transitions: what directly follows what",
            file: "transitions",
            more: left(data.edges_more.edges, "transition", "transitions"),
            open: (edge) => choose({ edge: edge.index }),
          },
        ),
    ],
    cases: [
      "Cases",
      () =>
        table(
          [
            text("case", "Case", (row) => data.text(row[0]), 44),
            ...(data.grouped ? [text("group", "Group", (row) => data.groups[row[1]]?.name ?? "–", 24)] : []),
            ...totals(2),
            number("first_ns", "Began after", (row) => row[8], duration),
            number("span_ns", "Lived for", (row) => told(data, row[9]), duration),
            number(
              "in_calls",
              "In calls",
              (row) => (row[9] > 0 && told(data, row[9]) === row[9] && row[4] !== null ? row[4] / row[9] : null),
              (share) => (share === null ? "–" : percent(share)),
              "Sum of its durations over its time; above 100 % where threads overlap",
            ),
          ],
          {
            rows: data.cases.list,
            sort: "duration_ns",
            caption: "Cases",
            file: "cases",
            more: left(data.cases.more, "case", "cases"),
          },
        ),
    ],
    calls: [
      "Calls",
      () =>
        table(
          [
            text("call", "Call", (row) => data.text(row[0])),
            ...totals(1),
            number("mean_ns", "Mean", (row) => (row[1] > 0 && row[3] !== null ? row[3] / row[1] : null), duration),
          ],
          {
            rows: data.calls.list,
            sort: "duration_ns",
            caption: "Calls",
            file: "calls",
            more: left(data.calls.more, "kind of call", "kinds of calls"),
          },
        ),
    ],
  };
  const keys = Object.keys(sheets);
  const panels = new Map();
  const tabs = new Map();
  function show(key, focus) {
    for (const other of keys) {
      tabs.get(other).setAttribute("aria-selected", String(other === key));
      tabs.get(other).tabIndex = other === key ? 0 : -1;
      panels.get(other).hidden = other !== key;
    }
    if (panels.get(key).childElementCount === 0) panels.get(key).append(sheets[key][1]());
    if (focus) tabs.get(key).focus();
  }
  for (const key of keys) {
    tabs.set(
      key,
      h(
        "button",
        { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `sheet-${key}`, onclick: () => show(key) },
        sheets[key][0],
      ),
    );
    panels.set(key, h("div", { role: "tabpanel", id: `sheet-${key}`, "aria-labelledby": `tab-${key}` }));
  }
  const bar = h(
    "div",
    {
      class: "tabs",
      role: "tablist",
      "aria-label": "Tables",
      onkeydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const at = keys.findIndex((key) => tabs.get(key).getAttribute("aria-selected") === "true");
        show(keys[(at + step + keys.length) % keys.length], true);
        event.preventDefault();
      },
    },
    [...tabs.values()],
  );
  root.append(bar, ...panels.values());
  show("activities");
  return {
    show,
    prepare: () => keys.forEach((key) => panels.get(key).childElementCount || panels.get(key).append(sheets[key][1]())),
  };
}
