// Where the elapsed time went: the answer in one line, its pieces as one bar and as a list, and who waited for whom.

import { foremostAdvice } from "./advice.js";
import { h, name, shorten, visible } from "./dom.js";
import { count, duration, percent, plural } from "./format.js";
import { table } from "./table.js";

const PIECE_KINDS = {
  data: "data",
  sync: "sync",
  metadata: "metadata",
  memory: "memory",
  process: "process",
  computing: "computing",
  "between-calls": "between calls",
  "off-cpu": "off CPU",
  sleep: "sleep",
  waiting: "waiting",
  "hand-over": "hand-over",
  transfer: "transfer",
  mpi: "mpi",
  other: "other calls",
  start: "start",
  tracing: "tracing",
};
/** Pieces of the list that are shown at once; those below this share of the whole have no part of the bar of their own. */
const LISTED_PIECES = 8;
const LEAST_SHARE = 0.006;

function kindSwatch(kind) {
  return h("i", { class: `swatch piece-${kind}`, "aria-hidden": "true" });
}

function shareOf(part, whole) {
  return whole > 0 ? part / whole : null;
}

/** All pieces one beside the other; what is too narrow to be seen is joined at the end. */
function stack(data, run) {
  const wide = run.pieces.list.filter(([time]) => time >= run.elapsed_ns * LEAST_SHARE);
  const rest = run.elapsed_ns - wide.reduce((sum, [time]) => sum + time, 0);
  const label = ([time, , what]) =>
    `${duration(time)} (${percent(shareOf(time, run.elapsed_ns))}) ${visible(data.text(what))}`;
  const number = run.pieces.list.length + run.pieces.more - wide.length;
  return h(
    "div",
    { class: "stack", role: "img", "aria-label": `The elapsed time: ${wide.slice(0, 6).map(label).join(", ")}` },
    wide.map((piece) => h("i", { class: `piece-${piece[1]}`, style: { "flex-grow": piece[0] }, title: label(piece) })),
    rest > 0
      ? h("i", {
          class: "piece-rest",
          style: { "flex-grow": rest },
          title: `${duration(rest)} in ${plural(number, "smaller part")}`,
        })
      : null,
  );
}

function kindLegend(run) {
  const sums = new Map();
  for (const [time, kind] of run.pieces.list) sums.set(kind, (sums.get(kind) ?? 0) + time);
  return h(
    "div",
    { class: "legend" },
    [...sums]
      .filter(([, time]) => time >= run.elapsed_ns * LEAST_SHARE)
      .sort((a, b) => b[1] - a[1])
      .map(([kind, time]) =>
        h(
          "span",
          { class: "key" },
          h("span", null, kindSwatch(kind), PIECE_KINDS[kind]),
          h("b", null, duration(time)),
          percent(shareOf(time, run.elapsed_ns)),
        ),
      ),
  );
}

function pieceRow(data, run, [time, kind, what, program, calls]) {
  const words = data.text(what);
  const notes = [
    words.includes(data.text(program)) ? null : shorten(visible(data.text(program)), 30),
    calls > 0 ? plural(calls, "call") : null,
  ].filter(Boolean);
  return h(
    "li",
    null,
    h("b", { class: "number" }, duration(time)),
    h("span", { class: "number" }, percent(shareOf(time, run.elapsed_ns))),
    h(
      "span",
      { class: "what" },
      kindSwatch(kind),
      name(words, 90),
      notes.length > 0 ? h("small", null, ` ${notes.join(", ")}`) : null,
    ),
  );
}

function pieces(data, run) {
  const { list, more } = run.pieces;
  const rows = h(
    "ol",
    { class: "pieces" },
    list.slice(0, LISTED_PIECES).map((piece) => pieceRow(data, run, piece)),
  );
  const hidden = list.slice(LISTED_PIECES);
  if (hidden.length === 0) return rows;
  const rest = hidden.reduce((sum, [time]) => sum + time, 0) + run.more_ns;
  const last = h(
    "li",
    { class: "rest" },
    h("b", { class: "number" }, duration(rest)),
    h("span", { class: "number" }, percent(shareOf(rest, run.elapsed_ns))),
    h(
      "span",
      { class: "what" },
      h(
        "button",
        {
          type: "button",
          class: "link",
          id: "more-pieces",
          onclick: () => {
            last.replaceWith(...hidden.map((piece) => pieceRow(data, run, piece)), ...leftOut);
          },
        },
        `${plural(hidden.length + more, "smaller part")}: show ${more > 0 ? `the ${count(hidden.length)} largest` : "them"}`,
      ),
    ),
  );
  const leftOut =
    more > 0
      ? [
          h(
            "li",
            { class: "rest" },
            h("b", { class: "number" }, duration(run.more_ns)),
            h("span", { class: "number" }, percent(shareOf(run.more_ns, run.elapsed_ns))),
            h("span", { class: "what" }, `${plural(more, "smaller part")} not in this file (iotrail why --json)`),
          ),
        ]
      : [];
  rows.append(last);
  return rows;
}

function severalRuns(data) {
  const { list, more } = data.why.runs;
  const median = list[Math.floor((list.length + more) / 2)];
  const columns = [
    { key: "run", label: "Run", value: (row) => data.text(row[0]), text: (row) => name(data.text(row[0]), 60) },
    { key: "elapsed_ns", label: "Elapsed", number: true, value: (row) => row[1], text: (row) => duration(row[1]) },
    {
      key: "largest",
      label: "Largest part",
      value: (row) => data.text(row[2]),
      text: (row) => [`${duration(row[3])} `, name(data.text(row[2]), 60)],
    },
  ];
  return [
    h(
      "p",
      null,
      `${plural(list.length + more, "run")} whose processes are not related. The slowest, explained here, is `,
      h("b", null, shorten(visible(data.text(list[0][0])), 50)),
      median ? `; the median took ${duration(median[1])}.` : ".",
    ),
    h(
      "details",
      null,
      h("summary", null, "All runs"),
      table(columns, {
        rows: list,
        sort: "elapsed_ns",
        caption: "Runs",
        file: "runs",
        step: 20,
        more: more > 0 ? `${plural(more, "faster run")} not in this file` : null,
      }),
    ),
  ];
}

export function answer(data, root) {
  const { slowest: run, runs, incomplete, hung } = data.why;
  if (!run) {
    root.append(
      h(
        "p",
        { class: "lead" },
        "Where the elapsed time went is unknown: nothing in the trail has a time (strace -ttt -T records times and durations).",
      ),
    );
    return;
  }
  // A figure and its unit stay on one line.
  const line = visible(run.line).replace(/(\d) (ns|µs|ms|s|min|h|d)(?![^ ,:])/g, "$1\u00a0$2");
  const [elapsed, ...rest] = line.split(": ");
  const foremost = foremostAdvice(data);
  root.append(
    h("p", { class: "headline" }, h("strong", null, elapsed), `: ${rest.join(": ")}`),
    hung ? h("p", { class: "lead" }, visible(hung)) : "",
    runs.list.length > 0 ? severalRuns(data)[0] : "",
    stack(data, run),
    kindLegend(run),
    ...(foremost ? [foremost, h("h3", null, "Where the time went")] : []),
    pieces(data, run),
    runs.list.length > 0 ? severalRuns(data)[1] : "",
  );
  if (incomplete) root.append(h("p", { class: "notice warn" }, `Incomplete: ${visible(incomplete)}`));
  if (data.selection)
    root.append(
      h(
        "p",
        { class: "status" },
        "This explains the whole trail, because the cause of a wait may be any call; everything below is about the selection.",
      ),
    );
}

function neverReturned(data) {
  const { list, more } = data.why.never_returned;
  const words = (key, label, at) => ({
    key,
    label,
    value: (row) => data.text(row[at]),
    text: (row) => name(data.text(row[at]), 60),
  });
  return [
    h("h3", null, "Calls that never returned"),
    h("p", null, "What threads were in when a signal ended their process, or when the trail ends."),
    table(
      [
        words("call", "Call", 0),
        words("program", "Program", 1),
        { key: "threads", label: "Threads", number: true, value: (row) => row[2], text: (row) => count(row[2]) },
        {
          key: "time_ns",
          label: "For",
          number: true,
          title: "From the start of the call to the end of its process or of the run",
          value: (row) => row[3],
          text: (row) => (row[3] === null ? "–" : duration(row[3])),
        },
      ],
      {
        rows: list,
        caption: "Calls that never returned",
        file: "never-returned",
        step: 12,
        more: more > 0 ? `${plural(more, "more row")} not in this file` : null,
      },
    ),
  ];
}

export function waits(data, root) {
  whoWaited(data, root);
  if (data.why.never_returned.list.length > 0) root.append(...neverReturned(data));
}

function whoWaited(data, root) {
  const run = data.why.slowest;
  if (!run || run.waits.list.length + run.waits.more === 0) {
    root.append(
      h(
        "p",
        { class: "status" },
        run ? "No thread waited for another one." : "Unknown: nothing in the trail has a time.",
      ),
    );
    return;
  }
  const time = (key, label, at, title) => ({
    key,
    label,
    number: true,
    title,
    value: (row) => (row[at - 1] > 0 ? row[at] : null),
    text: (row) => (row[at - 1] > 0 ? duration(row[at]) : "–"),
  });
  const number = (key, label, at) => ({
    key,
    label,
    number: true,
    value: (row) => row[at],
    text: (row) => (row[at] > 0 ? count(row[at]) : "–"),
  });
  const words = (key, label, at) => ({
    key,
    label,
    value: (row) => data.text(row[at]),
    text: (row) => name(data.text(row[at]), 60),
  });
  root.append(
    h(
      "p",
      null,
      "From the start of each wait to what ended it. “On the path” is the part that held up the end of the run; waits nest, so the columns do not add up.",
    ),
    table(
      [
        words("waiter", "Waiter", 0),
        words("waited_for", "Waited for", 1),
        time("on_path_ns", "On the path", 3, "Waits that held up the end of the run"),
        number("on_path", "Waits on it", 2),
        time("in_all_ns", "In all", 5, "All waits, each alone"),
        number("in_all", "Waits in all", 4),
      ],
      {
        rows: run.waits.list,
        sort: "on_path_ns",
        caption: "Who waited for whom",
        file: "waits",
        step: 12,
        more: run.waits.more > 0 ? `${plural(run.waits.more, "more row")} not in this file` : null,
      },
    ),
  );
}
