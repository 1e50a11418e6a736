// What was done to each file, and for one file the sizes of its requests and when and where it was accessed.

import { clear, h, name, s, visible } from "./dom.js";
import { bytes, count, duration, list, moment, percent, plural } from "./format.js";
import { figures, histogram, small } from "./panel.js";
import { Side } from "./side.js";
import { table } from "./table.js";
import { DIGITS } from "./timeline.js";

/** Picture of accesses: its size, and the room for its axes. */
const PLOT = { width: 360, height: 210, left: 58, right: 8, top: 8, bottom: 22 };
const LAST_STEP = 4095;

const ioOf = (file) => (file.t === null ? null : file.t[0] + file.t[1] + file.t[2]);
const sequential = (file) => (file.s[0] + file.s[1] > 0 ? file.s[0] / (file.s[0] + file.s[1]) : null);
const again = (file) => (file.a[0] === null && file.a[1] === null ? null : (file.a[0] ?? 0) + (file.a[1] ?? 0));
const failed = (file) => file.e.reduce((sum, [, number]) => sum + number, 0);

/** A bin of sizes as from, to, count. */
const sizes = ([digits, number]) => (digits === 0 ? [0, 1, number] : [2 ** (digits - 1), 2 ** digits, number]);

/** The columns; those in which no file has anything are left out. */
function columns(data) {
  const rows = data.files.list;
  const number = (key, label, of, show, title, exports) => ({
    key,
    label,
    number: true,
    title,
    value: of,
    text: (row) => (of(row) === 0 ? h("span", { class: "nothing" }, show(0)) : show(of(row))),
    exports,
    filled: rows.some((row) => (of(row) ?? 0) !== 0),
  });
  const time = (at) => (row) => (row.t === null ? null : row.t[at]);
  const all = [
    {
      key: "path",
      label: "File",
      value: (row) => data.text(row.n),
      text: (row) => name(data.text(row.n), 58),
      filled: true,
    },
    {
      ...number(
        "io_ns",
        "I/O time",
        ioOf,
        duration,
        "Time in calls that move its data, sync it, or ask or change something about it",
        [
          ["io_ns", ioOf],
          ["data_ns", time(0)],
          ["sync_ns", time(1)],
          ["metadata_ns", time(2)],
        ],
      ),
      filled: true,
    },
    number("sync_ns", "Syncing", time(1), duration, "The part of the I/O time in fsync and the like"),
    number("wait_ns", "Waiting", time(3), duration, "Time in calls that waited for it: reads of a pipe, locks"),
    number(
      "request_ns",
      "In flight",
      (row) => row.r ?? 0,
      duration,
      "Time in which requests (io_uring, aio) were in flight, each by itself; no thread spent it",
    ),
    number("bytes_read", "Read", (row) => row.b[0], bytes),
    number("bytes_written", "Written", (row) => row.b[1], bytes),
    number("reads", "Reads", (row) => row.c[2], count),
    number("writes", "Writes", (row) => row.c[3], count),
    number("common_size", "Request", (row) => row.q[0], bytes, "The most common size of a request"),
    number(
      "sequential",
      "Sequential",
      sequential,
      percent,
      "Share of accesses that begin where the one before ended, or behind",
    ),
    number("again", "Again", again, bytes, "Bytes that had been read, or written, before"),
    number("calls", "Calls", (row) => row.c[0], count),
    number("opens", "Opens", (row) => row.c[1], count),
    number("failures", "Failed", failed, count),
    number("processes", "Processes", (row) => row.p[0], count),
    number("ranks", "Ranks", (row) => row.p[1], count),
    number("files", "Files", (row) => row.files, count, "How many files had this name one after the other"),
  ];
  const useful = (column) =>
    column.filled &&
    (column.key !== "ranks" || rows.some((row) => row.p[1] > 1)) &&
    (column.key !== "files" || rows.some((row) => row.files > 1));
  return all.filter(useful);
}

/** The columns of what is known of a part of the time. */
function columnsOfWindow(data) {
  const number = (key, label, of, show) => ({
    key,
    label,
    number: true,
    value: of,
    text: (row) => (of(row) === 0 ? h("span", { class: "nothing" }, show(0)) : show(of(row))),
  });
  return [
    {
      key: "path",
      label: "File",
      value: (row) => data.text(row.file.n),
      text: (row) => name(data.text(row.file.n), 58),
    },
    number("io_ns", "I/O time", (row) => row.io, duration),
    number("bytes_read", "Read", (row) => row.read, bytes),
    number("bytes_written", "Written", (row) => row.written, bytes),
    number("calls", "Calls", (row) => row.calls, count),
  ];
}

/** The points of a sample: time and offset as shares of the whole, size in bytes, whether it is a write. */
function points(sample) {
  const all = [];
  for (let at = 0; at + 4 < sample.points.length; at += 5) {
    const [a, b, c, d, what] = [...sample.points.slice(at, at + 5)].map((digit) => DIGITS.indexOf(digit));
    all.push([(a * 64 + b) / LAST_STEP, (c * 64 + d) / LAST_STEP, 2 ** ((what % 32) - 1), what >= 32]);
  }
  return all;
}

/** Accesses over time and offset. */
function plot(sample) {
  if (sample.placed === 0) return h("p", { class: "status" }, "Where in the file the accesses began is unknown.");
  const { width, height, left, right, top, bottom } = PLOT;
  const x = (share) => left + share * (width - left - right);
  const y = (share) => height - bottom - share * (height - top - bottom);
  const paths = { false: "", true: "" };
  for (const [time, offset, size, isWrite] of points(sample)) {
    const length = Math.max((size / Math.max(sample.extent, 1)) * (height - top - bottom), 2);
    paths[isWrite] += `M${x(time).toFixed(1)} ${y(offset).toFixed(1)}v${(-length).toFixed(1)}`;
  }
  const text = (words, at, attributes) => s("text", { x: at[0], y: at[1], ...attributes }, words);
  const unplaced =
    sample.unplaced > 0 ? ` ${plural(sample.unplaced, "access", "accesses")} without a known offset left out.` : "";
  const drawn =
    sample.drawn < sample.placed
      ? `${count(sample.drawn)} of ${plural(sample.placed, "access", "accesses")}, drawn at random.`
      : `All ${plural(sample.placed, "access", "accesses")}.`;
  return h(
    "figure",
    { class: "accesses" },
    s(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        class: "chart",
        role: "img",
        "aria-label": `Accesses over time and offset. ${drawn}`,
      },
      s("g", { class: "axes" }, s("path", { d: `M${left} ${top}V${height - bottom}H${width - right}` })),
      text(bytes(sample.extent), [left - 5, top + 4], { "text-anchor": "end", "dominant-baseline": "central" }),
      text("0", [left - 5, height - bottom], { "text-anchor": "end", "dominant-baseline": "central" }),
      text(`+${duration(sample.from)}`, [left, height - 6], {}),
      text(`+${duration(sample.to)}`, [width - right, height - 6], { "text-anchor": "end" }),
      s("path", { class: "access-read", d: paths.false }),
      s("path", { class: "access-write", d: paths.true }),
    ),
    h(
      "figcaption",
      null,
      h("span", { class: "key" }, h("i", { class: "swatch mode-ro", "aria-hidden": "true" }), "read"),
      " ",
      h("span", { class: "key" }, h("i", { class: "swatch mode-wo", "aria-hidden": "true" }), "written"),
      ` Offset over time. ${drawn}${unplaced}`,
    ),
  );
}

function filePanel(data, file) {
  const exact = (value, unit) => (value === null ? "" : `${count(value)} ${unit}`);
  const io = ioOf(file);
  const part = (at) => (file.t === null ? null : file.t[at]);
  const section = (title, ...children) => h("section", null, h("h4", null, title), children);
  return [
    figures([
      ["I/O time", duration(io), exact(io, "ns")],
      ["of it data", duration(part(0)), exact(part(0), "ns")],
      ["of it syncing", duration(part(1)), exact(part(1), "ns")],
      ["of it metadata", duration(part(2)), exact(part(2), "ns")],
      ["Waiting", duration(part(3)), exact(part(3), "ns")],
      ["Read", bytes(file.b[0]), exact(file.b[0], "B")],
      ["Written", bytes(file.b[1]), exact(file.b[1], "B")],
      ["Read again", bytes(file.a[0]), exact(file.a[0], "B")],
      ["Written again", bytes(file.a[1]), exact(file.a[1], "B")],
      ["Request", bytes(file.q[0]), file.q[1] === null ? "" : `${percent(file.q[1])} of all`],
      ["Sequential", percent(sequential(file)), `${count(file.s[0])} of ${count(file.s[0] + file.s[1])}`],
      ["Calls", count(file.c[0]), ""],
      ["Opens", count(file.c[1]), ""],
      ["Processes", count(file.p[0]), plural(file.p[1], "rank")],
      ["Files", count(file.files), "of this name, one after the other"],
      ["First call", moment(data, file.w[0]), ""],
      ["Last end", moment(data, file.w[1]), ""],
    ]),
    file.x ? section("Accesses", plot(file.x)) : null,
    file.rh.length > 0
      ? section("Reads", histogram("Requests by size (powers of two)", file.rh.map(sizes), bytes, "request"))
      : null,
    file.wh.length > 0
      ? section("Writes", histogram("Requests by size (powers of two)", file.wh.map(sizes), bytes, "request"))
      : null,
    small(
      "Failed calls",
      ["Error", "Calls"],
      file.e.map(([error, number]) => [visible(data.text(error)), count(number)]),
    ),
  ];
}

export function files(data, root, panel, time) {
  const { list: rows, more, io_ns: io, more_io_ns: rest, sampled } = data.files;
  if (rows.length === 0) {
    root.append(h("p", { class: "status" }, "No call named a file."));
    return;
  }
  const side = new Side(root.parentElement, panel, () => root.querySelector("button.link")?.focus());
  const whole = rows.length + more;
  const parts = [
    `${plural(whole, "file, pipe, device or directory", "files, pipes, devices and directories")}`,
    io === null ? "no call has a duration" : `${duration(io)} of I/O time`,
  ];
  const left =
    more > 0
      ? `${plural(more, "more row")}${rest === null || io === null ? "" : ` with ${duration(rest)} (${percent(rest / Math.max(io, 1))}) of the I/O time`} not in this file (iotrail files)`
      : null;
  const place = h("div");
  const open = (file) => side.show("File", name(data.text(file.n), 200), filePanel(data, file));
  const how = { sort: "io_ns", caption: "Files", file: "files", step: 20, more: left };
  const inWindow = () =>
    table(columnsOfWindow(data), {
      ...how,
      rows: rows.map((file, index) => ({ file, ...time.ofFile(index) })).filter((row) => row.calls > 0 || row.io > 0),
      open: (row) => open(row.file),
    });
  const draw = () =>
    clear(place).append(time && !time.isWhole ? inWindow() : table(columns(data), { ...how, rows, open }));
  root.append(
    h(
      "p",
      null,
      `${list(parts)}. Select a file for the sizes of its requests, errors, and${sampled > 0 ? `, for the ${count(sampled)} with most I/O time,` : ""} when and where it was accessed.`,
    ),
    place,
  );
  draw();
  time?.listen(draw);
}
