// Process groups: what each group of processes read and wrote, from which files, at which time (Dun et al., Table 5).

import { clear, h, visible } from "./dom.js";
import { bytes, count, duration, percent, plural } from "./format.js";
import { dot, groupOf, hue } from "./hues.js";
import { table } from "./table.js";

/** Columns that are left out if nothing is known. */
const OFTEN_UNKNOWN = new Set(["page_cache_hit", "cpu_ns"]);

const MODES = { ro: "read only", wo: "written only", rw: "read and written", none: "neither" };

function bar(share, text) {
  return h(
    "span",
    { class: "cell-bar" },
    h(
      "span",
      { class: "track", "aria-hidden": "true" },
      share > 0 ? h("span", { class: "fill", style: { width: `${Math.min(share, 1) * 100}%` } }) : null,
    ),
    h("span", { class: "value" }, text),
  );
}

/** Four counts as parts of one bar. */
function modes(of) {
  const words = Object.entries(MODES)
    .map(([key, label]) => `${count(of[key])} ${label}`)
    .join(", ");
  return h(
    "span",
    { class: "cell-bar", title: words },
    h(
      "span",
      { class: "track modes", role: "img", "aria-label": words },
      Object.keys(MODES).map((key) =>
        of[key] > 0 ? h("span", { class: `mode-${key}`, style: { flex: of[key] } }) : null,
      ),
    ),
    h(
      "span",
      { class: "value" },
      Object.keys(MODES)
        .map((key) => count(of[key]))
        .join(" · "),
    ),
  );
}

/** When the group ran, within the time of all. */
function when(data, row, [from, to]) {
  if (!row.span) return "–";
  const at = (time) => ((time - from) / Math.max(to - from, 1)) * 100;
  const [left, right] = [at(row.span[0]), at(row.span[1])];
  const length = row.span[1] - row.span[0];
  return h(
    "span",
    { class: "cell-bar", title: `began ${duration(row.span[0] - from)} after the first, for ${duration(length)}` },
    h(
      "span",
      { class: "track when", "aria-hidden": "true" },
      h("i", { style: { left: `${left}%`, width: `${Math.max(right - left, 0.8)}%`, background: row.hue } }),
    ),
    h("span", { class: "value" }, duration(length)),
  );
}

/** What groups read and wrote in a part of the time. */
function inWindow(list, time, how) {
  const rows = list.map((group) => ({ group, ...time.ofGroup(group.group) })).filter((row) => row.calls > 0);
  const measure = (key, label, of, show) => {
    const top = Math.max(...rows.map(of), 1);
    return { key, label, number: true, value: of, text: (row) => bar(of(row) / top, show(of(row))) };
  };
  const columns = [
    {
      key: "group",
      label: "Group",
      value: (row) => row.group.group,
      text: ({ group }) => h("span", null, dot(group.index), visible(group.group)),
    },
    measure("bytes_read", "Read", (row) => row.read, bytes),
    measure("bytes_written", "Written", (row) => row.written, bytes),
    measure("calls", "Calls", (row) => row.calls, count),
  ];
  return table(columns, { ...how, rows, sort: "calls" });
}

export function phases(data, root, open, time) {
  const { list, more, total } = data.workflow.phases;
  for (const row of list) {
    row.index = groupOf(data, row.group);
    row.hue = hue(row.index);
  }
  const whole = total.span ?? [0, 1];
  const most = (of) => Math.max(...list.map((row) => of(row) ?? 0), 1);
  const measure = (key, label, of, show, title) => {
    const top = most(of);
    return {
      key,
      label,
      number: true,
      value: of,
      title,
      text: (row) => (of(row) === null ? "unknown" : bar(of(row) / top, show(of(row)))),
    };
  };
  const number = (key, label, of, show, title) => ({
    key,
    label,
    number: true,
    value: of,
    title,
    text: (row) => (of(row) === null ? "unknown" : show(of(row))),
  });
  const parts = (key, label, title) => ({
    key,
    label,
    title,
    number: true,
    value: (row) => Object.values(row[key]).reduce((sum, value) => sum + value, 0),
    text: (row) => modes(row[key]),
    exports: Object.keys(MODES).map((mode) => [`${key}_${mode}`, (row) => row[key][mode]]),
  });
  const columns = [
    {
      key: "group",
      label: "Group",
      value: (row) => row.group,
      text: (row) => h("span", null, dot(row.index), visible(row.group)),
    },
    number("jobs", "Processes", (row) => row.jobs, count),
    {
      key: "start",
      label: "When",
      number: true,
      value: (row) => row.span?.[0] ?? null,
      text: (row) => when(data, row, whole),
      title: "From the first start to the last end of its processes, in the time of all",
    },
    measure("bytes_read", "Read", (row) => row.bytes_read, bytes, "Layer: system calls"),
    measure("bytes_written", "Written", (row) => row.bytes_written, bytes, "Layer: system calls"),
    number(
      "page_cache_hit",
      "Page-cache hit",
      (row) => row.page_cache_hit,
      percent,
      "Share of the bytes read that storage did not deliver. Layer: file system",
    ),
    parts("files", "Files", "read only · written only · read and written · neither"),
    parts("processes", "Processes that read / write files", "read only · written only · read and written · neither"),
    measure("call_ns", "Time in calls", (row) => row.call_ns, duration),
    number("cpu_ns", "CPU", (row) => row.cpu_ns, duration),
    number("lifetime_ns", "Lives", (row) => row.lifetime_ns, duration, "Sum of the lifetimes of its processes"),
  ];
  const hit =
    total.page_cache_hit === null
      ? "how much storage delivered is unknown"
      : `page-cache hits: ${percent(total.page_cache_hit)} of the bytes read`;
  const place = h("div");
  const how = {
    caption: "Process groups",
    file: "phases",
    step: 20,
    more: more > 0 ? `${plural(more, "smaller group")} not in this file` : null,
  };
  const draw = () =>
    clear(place).append(
      time && !time.isWhole
        ? inWindow(list, time, { ...how, open: (row) => open(row.group) })
        : table(known, { ...how, rows: list, sort: "start", descending: false, open }),
    );
  const known = columns.filter(({ key }) => !OFTEN_UNKNOWN.has(key) || list.some((row) => row[key] !== null));
  root.append(
    h(
      "p",
      null,
      `${plural(list.length + more, "group")} of processes, by ${visible(data.workflow.by)}. Together `,
      h("b", null, plural(total.jobs, "process", "processes")),
      " read ",
      h("b", null, bytes(total.bytes_read)),
      " and wrote ",
      h("b", null, bytes(total.bytes_written)),
      ` in ${plural(
        Object.values(total.files).reduce((sum, value) => sum + value, 0),
        "file",
      )}; ${hit}.`,
    ),
    h("div", { class: "phase-table" }, place),
    h(
      "div",
      { class: "legend" },
      Object.entries(MODES).map(([key, label]) =>
        h("span", { class: "key" }, h("i", { class: `swatch mode-${key}`, "aria-hidden": "true" }), label),
      ),
      h(
        "span",
        { class: "key" },
        "Layers: bytes, calls, files and processes are what calls moved, copies inside the kernel as read and as written; the page-cache hit compares them with the kernel's counters of what storage delivered. Groups share files, so files do not add up.",
      ),
    ),
  );
  draw();
  time?.listen(draw);
}
