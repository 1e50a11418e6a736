// The answer first: what ran, for how long, how much I/O, where the time went, what is not covered.

import { clear, h, name, shorten, visible } from "./dom.js";
import { bytes, count, duration, list, moment, percent, plural, told } from "./format.js";

const CASES = { rank: "rank (one launched program)", pid: "process", tid: "thread", exec: "executable image" };

function strong(text) {
  return h("strong", null, text);
}

/** Whether the page shows runs that have nothing to do with each other: what lies between them is nobody's time. */
function areSeveral(data) {
  return data.why.runs.list.length > 0;
}

/** How long it ran: as explained above if that is one run, else from the first event to the last; null if time stamps do not tell. */
function ranFor(data) {
  const { slowest, runs } = data.why;
  if (slowest && runs.list.length === 0 && !data.selection) return told(data, slowest.elapsed_ns);
  return data.clock === "order" ? null : told(data, data.span_ns);
}

function whatRan(data) {
  const { totals, commands, hosts } = data;
  const shown = commands.list
    .slice(0, 3)
    .map(([index]) => [h("code", { title: visible(data.text(index)) }, shorten(visible(data.text(index)), 70)), ", "]);
  const flat = shown.flat().slice(0, -1);
  const rest = commands.list.length - Math.min(3, commands.list.length) + commands.more;
  const command =
    flat.length > 0
      ? [flat, rest > 0 ? ` and ${plural(rest, "more command")}` : "", " ran "]
      : ["The trace does not say which commands ran; there were calls of "];
  const places =
    hosts.list.length > 0
      ? [
          " on ",
          strong(
            hosts.list.length + hosts.more === 1
              ? shorten(visible(data.text(hosts.list[0])), 40)
              : plural(hosts.list.length + hosts.more, "host"),
          ),
        ]
      : [];
  const span =
    data.clock === "order"
      ? [". The trace has no time stamps, so only durations and order are known."]
      : ranFor(data) === null
        ? [". The time stamps are too coarse to tell for how long."]
        : [areSeveral(data) ? " within " : " for ", strong(duration(ranFor(data))), "."];
  return h(
    "p",
    null,
    command,
    flat.length > 0 ? "in " : "",
    strong(plural(totals.processes, "process", "processes")),
    ` with ${plural(totals.threads, "thread")}`,
    places,
    span,
  );
}

function howMuch(data) {
  const { totals } = data;
  const moved = [
    ["read ", strong(bytes(totals.read))],
    ["wrote ", strong(bytes(totals.written))],
  ];
  if (totals.copied > 0) moved.push(["copied ", strong(bytes(totals.copied)), " inside the kernel"]);
  const words = moved.flatMap((part, place) => [place === 0 ? "" : place === moved.length - 1 ? " and " : ", ", part]);
  const failed =
    totals.failures > 0
      ? [" ", strong(count(totals.failures)), ` of the calls failed (${percent(totals.failures / totals.events)}).`]
      : " No call failed.";
  return h(
    "p",
    null,
    "They made ",
    strong(plural(totals.events, "call")),
    ` on ${plural(totals.files, "file")}, `,
    words,
    ".",
    failed,
  );
}

function whereTime(data) {
  const { totals, nodes } = data;
  if (totals.duration_ns === null)
    return h("p", null, "How long the calls took is unknown: the trace has no durations (strace -T records them).");
  const lived = told(data, totals.thread_ns) === totals.thread_ns ? totals.thread_ns : 0;
  const share = lived > 0 ? totals.duration_ns / totals.thread_ns : 0;
  const inside =
    lived > 0 && data.clock !== "order"
      ? [
          "Total thread time ",
          strong(duration(totals.thread_ns)),
          ", of it ",
          strong(`${duration(totals.duration_ns)} (${percent(share)})`),
          " in the traced calls. ",
        ]
      : ["The traced calls took ", strong(duration(totals.duration_ns)), " in all. "];
  const top = nodes[0];
  const most = top
    ? [
        "The largest part is ",
        name(top.name, 70),
        " with ",
        strong(percent(top.rd)),
        ` of the time of the mapped calls.`,
      ]
    : [];
  return h("p", null, inside, most);
}

const sumOf = (counts) => Object.values(counts).reduce((all, number) => all + number, 0);

/** Everything that keeps this page from being the whole truth, in words. */
export function gaps(data) {
  const { coverage: c, totals, recording } = data;
  const words = recording ? recording.gaps.map(visible) : [];
  if (recording?.why_empty) words.push(visible(`the recording holds no events: ${recording.why_empty}`));
  if (c.lines.unparsed > 0)
    words.push(
      `${plural(c.lines.unparsed, "line")} of the trace could not be read (${percent(c.lines.unparsed / Math.max(c.lines.total, 1))})`,
    );
  const lost = c.lost - (recording ? sumOf(c.recording.lost) : 0);
  const incomplete = c.incomplete - (recording ? c.recording.unfinished : 0);
  if (lost > 0) words.push(`${plural(lost, "event")} ${lost === 1 ? "was" : "were"} lost`);
  if (incomplete > 0)
    words.push(`${plural(incomplete, "call")} ${incomplete === 1 ? "was" : "were"} seen only by half`);
  if (c.cut_arguments > 0)
    words.push(
      `${plural(c.cut_arguments, "call")} ${c.cut_arguments === 1 ? "has" : "have"} a command line or path that strace cut (-s)`,
    );
  if (c.interrupted > 0)
    words.push(
      `${plural(c.interrupted, "call")} ${c.interrupted === 1 ? "was" : "were"} interrupted by a signal and restarted (only the restart counts)`,
    );
  if (c.interrupted_unknown > 0)
    words.push(
      `${plural(c.interrupted_unknown, "call")} ${c.interrupted_unknown === 1 ? "was" : "were"} interrupted by a signal, and the trace does not show how ${c.interrupted_unknown === 1 ? "it" : "they"} ended`,
    );
  if (c.relative_paths > 0)
    words.push(
      `${plural(c.relative_paths, "event")} ${c.relative_paths === 1 ? "has" : "have"} a path whose directory was never seen`,
    );
  if (totals.unmapped > 0)
    words.push(
      `${plural(totals.unmapped, "event")} (${percent(totals.unmapped / totals.events)}) ${totals.unmapped === 1 ? "has" : "have"} no activity under this mapping and ${totals.unmapped === 1 ? "is" : "are"} not in the graph`,
    );
  if (totals.cases_without_trace > 0)
    words.push(
      `${plural(totals.cases_without_trace, "case")} ${totals.cases_without_trace === 1 ? "has" : "have"} no mapped event at all`,
    );
  return words;
}

/** The coverage in one line: the two gravest gaps. */
const NAMED_GAPS = 2;

function notCovered(data) {
  const words = gaps(data);
  const named = words.slice(0, NAMED_GAPS);
  if (words.length > NAMED_GAPS) named.push(`${count(words.length - NAMED_GAPS)} more`);
  const text =
    words.length > 0
      ? `Not covered: ${list(named)}.`
      : data.coverage.notes.length > 0
        ? "Nothing was lost."
        : "Nothing is known to be missing.";
  const selection = data.selection ? ` Only a selection is shown: ${data.selection}.` : "";
  return h(
    "p",
    { class: words.length > 0 ? "notice warn" : "notice" },
    text,
    data.coverage.notes.length > 0 ? ` ${plural(data.coverage.notes.length, "note")} on what it cannot show.` : "",
    selection,
    " ",
    h("a", { href: "#coverage" }, "Coverage in full"),
    ".",
  );
}

function tile(label, value, note) {
  return h("div", { class: "tile" }, h("dt", null, label), h("dd", null, value, note ? h("small", null, note) : null));
}

function tiles(data) {
  const { totals } = data;
  return h(
    "dl",
    { class: "tiles" },
    tile(
      areSeveral(data) ? "First begin to last end" : "Ran for",
      ranFor(data) === null ? "unknown" : duration(ranFor(data)),
      data.clock === "utc" ? `from ${moment(data, 0).slice(0, 19)}` : null,
    ),
    tile("Calls", count(totals.events), totals.failures ? `${count(totals.failures)} failed` : "none failed"),
    tile("Read", bytes(totals.read), `${count(totals.read)} bytes`),
    tile("Written", bytes(totals.written), `${count(totals.written)} bytes`),
    tile(
      "Time in calls",
      totals.duration_ns === null ? "unknown" : duration(totals.duration_ns),
      totals.duration_ns !== null &&
        totals.thread_ns > 0 &&
        told(data, totals.thread_ns) === totals.thread_ns &&
        data.clock !== "order"
        ? `${percent(totals.duration_ns / totals.thread_ns)} of thread time`
        : null,
    ),
    tile("Cases", count(totals.cases), `a case is a ${CASES[data.case_by] ?? data.case_by}`),
  );
}

function bars(data, open) {
  const byTime = data.nodes.toSorted((a, b) => (b.t ?? 0) - (a.t ?? 0) || a.index - b.index);
  const top = byTime.slice(0, 8).filter((node) => node.t !== null && node.t > 0);
  const rest = data.totals.mapped_ns - top.reduce((sum, node) => sum + node.t, 0);
  const others = data.nodes.length + data.nodes_more.nodes - top.length;
  const widest = Math.max(top[0]?.rd ?? 1, rest / Math.max(data.totals.mapped_ns, 1));
  const bar = (share) =>
    h(
      "span",
      { class: "track", "aria-hidden": "true" },
      h("span", { class: "fill", style: { width: `${(share / widest) * 100}%` } }),
    );
  const row = (node) =>
    h(
      "li",
      null,
      h(
        "button",
        { type: "button", class: "link", title: visible(node.name), onclick: () => open(node.index) },
        shorten(visible(node.name), 54),
      ),
      bar(node.rd),
      h("span", { class: "value" }, h("b", null, percent(node.rd)), ` ${duration(node.t)}`),
      h("span", { class: "note" }, `${plural(node.c, "call")}${node.b > 0 ? `, ${bytes(node.b)}` : ""}`),
    );
  return h(
    "div",
    { class: "where" },
    h("h3", null, "Activities by time"),
    top.length === 0 ? h("p", null, "No mapped call has a known duration.") : null,
    h(
      "ol",
      { class: "bars" },
      top.map(row),
      rest > 0 && others > 0
        ? h(
            "li",
            { class: "rest" },
            h("span", null, `${plural(others, "other activity", "other activities")}`),
            bar(rest / data.totals.mapped_ns),
            h("span", { class: "value" }, h("b", null, percent(rest / data.totals.mapped_ns)), ` ${duration(rest)}`),
            h("span", { class: "note" }),
          )
        : null,
    ),
  );
}

export function summary(data, root) {
  root.append(notCovered(data), whatRan(data), howMuch(data), tiles(data));
}

/** The activities with most time, above the graph of all of them. */
export function activityBars(data, root, open, time) {
  const draw = () =>
    clear(root).append(time && !time.isWhole ? "" : whereTime(data), bars(time?.graph() ?? data, open));
  draw();
  time?.listen(draw);
}
