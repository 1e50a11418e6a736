// From findings to files to accesses: which files have most at stake, and for one of them each access.

import { clear, h, name, visible } from "./dom.js";
import { bytes, count, duration, plural } from "./format.js";
import { AccessView, bytesOf, callsByNumber, callText, loadAccesses, PAIRS } from "./accesses.js";
import { table } from "./table.js";

/** Why there is nothing to show, in a sentence. */
function nothingToShow([transfers, judged, withoutOffset, withoutOpen]) {
  if (transfers === 0) return "No call read or wrote a file, so there are no accesses to look at.";
  if (judged === 0 && withoutOffset > 0)
    return `The trail does not have the offsets of ${plural(withoutOffset, "transfer")} from and to files, so there are no accesses to look at.`;
  if (judged === 0 && withoutOpen > 0)
    return `The trail does not tell through which open file ${plural(withoutOpen, "transfer")} went, so there are no accesses to look at.`;
  if (judged === 0) return "No selected call read or wrote a file, so there are no accesses to look at.";
  return "No finding is about the accesses to a file.";
}

function stakeBar(row, most) {
  const time = row.at_stake_ns;
  const share = time === null || most === 0 ? 0 : time / most;
  return h(
    "span",
    { class: "cell-bar stake-bar" },
    h(
      "span",
      { class: "track", "aria-hidden": "true" },
      share > 0 ? h("span", { class: "fill", style: { width: `${share * 100}%` } }) : null,
    ),
    h("span", { class: "value" }, time === null ? "unknown" : time > 0 ? duration(time) : "none"),
  );
}

function fileColumns(data, rows) {
  const most = rows.reduce((largest, row) => Math.max(largest, row.at_stake_ns ?? 0), 0);
  const number = (key, label, of, title) => ({
    key,
    label,
    number: true,
    title,
    value: of,
    text: (row) => (of(row) === 0 ? h("span", { class: "nothing" }, "0") : count(of(row))),
  });
  return [
    { key: "path", label: "File", value: (row) => data.text(row.n), text: (row) => name(data.text(row.n), 58) },
    {
      key: "at_stake_ns",
      label: "At stake",
      number: true,
      title:
        "Time at stake with merging its accesses, or with the habit that has most, whichever is more: they may be about the same calls",
      value: (row) => row.at_stake_ns,
      text: (row) => stakeBar(row, most),
    },
    number("saved_calls", "Calls less", (row) => row.saved_calls, "Calls that need not be, in the same way"),
    number("runs", "Runs", (row) => row.runs, "Runs of accesses that could be one access each"),
    number("pairs_mergeable", "Pairs to merge", (row) => row.pairs[1] + row.pairs[2], "Pairs of category 1 or 2"),
    number("pairs_not", "Not", (row) => row.pairs[0], "Pairs of category 0: not mergeable"),
    number(
      "pairs_unknown",
      "Unknown",
      (row) => row.pairs[3],
      "Pairs of category 3: a call with an unknown effect is in between",
    ),
    number("habits", "Habits", (row) => row.findings[1], "Findings of other rules on this file"),
  ];
}

function accessColumns() {
  const number = (key, label, value, text) => ({ key, label, number: true, value, text });
  const offset = (value) => (value === null ? "–" : count(value));
  return [
    number(
      "start_ns",
      "At",
      (row) => row.start,
      (row) => `+${duration(row.start)}`,
    ),
    { key: "call", label: "Call", value: (row) => row.call, text: (row) => visible(row.call) },
    number(
      "pid",
      "Process",
      (row) => row.pid,
      (row) => String(row.pid),
    ),
    number(
      "open",
      "Open file",
      (row) => row.open || null,
      (row) => (row.open ? count(row.open) : "–"),
    ),
    number(
      "offset",
      "Offset",
      (row) => (row.does === 2 ? null : row.low),
      (row) => offset(row.does === 2 ? null : row.low),
    ),
    number(
      "offset_after",
      "Behind",
      (row) => row.high,
      (row) => offset(row.high),
    ),
    number(
      "size",
      "Size",
      (row) => row.size,
      (row) => (row.size === null ? "–" : bytes(row.size)),
    ),
    number(
      "dur_ns",
      "Took",
      (row) => row.took,
      (row) => duration(row.took),
    ),
    number(
      "run",
      "Run",
      (row) => row.run || null,
      (row) => (row.run ? `${count(row.run)}.${count(row.member)}` : "–"),
    ),
    {
      key: "pair",
      label: "Pair with the one before",
      value: (row) => PAIRS[row.pair].join(" ").trim(),
      text: (row) => (row.pair ? `${PAIRS[row.pair][0]}: ${PAIRS[row.pair][1]}` : ""),
    },
    {
      key: "stop",
      label: "Kept apart from the next one",
      value: (row) =>
        row.stop ? `${row.stop.words}: ${row.stop.by.call} ${row.stop.by.pid} ${bytesOf(row.stop.by)}` : "",
      text: (row) => (row.stop ? `${row.stop.words}: ${callText(row.stop.by)}` : ""),
    },
  ];
}

/** Runs in words. */
function runsText(shown, all) {
  const of = shown < all ? `${count(shown)} of ` : "";
  return all === 1 ? "1 run that could be one access" : `${of}${count(all)} runs that could each be one access`;
}

/** What there is of a file, and what is not in the page. */
function inAll(row, list) {
  const { all, runs, from } = row.x;
  const [accesses, allRuns] = all;
  const some = list.length < accesses;
  return [
    `${some ? `${count(list.length)} of ` : ""}${plural(accesses, "access", "accesses")}, ${runsText(runs.length, allRuns)}.`,
    `Times count from the first one, which began ${duration(from)} after the first event.`,
    row.files > 1
      ? `Of ${count(row.files)} files that had this name one after the other, the one with most at stake.`
      : "",
    some
      ? "Shown are the begin and the end of the runs that save most, and what is around them; a broken line passes what is not shown."
      : "",
  ]
    .filter(Boolean)
    .join(" ");
}

class Drill {
  constructor(data, root) {
    this.data = data;
    const { list, more } = data.drill.files;
    this.place = h("div", { id: "drill-file" });
    this.calls = callsByNumber(list.map((row) => row.x).filter(Boolean));
    const described = list.filter((row) => row.x).length;
    const left = more > 0 ? `${plural(more, "file")} with less at stake not in this file` : null;
    root.append(
      h("h3", null, "Files by findings"),
      h(
        "p",
        null,
        `${plural(list.length + more, "file")} with findings. Select a file for its accesses${described < list.length ? `, which this page has for ${count(described)} that were read or written, those with most at stake` : ""}.`,
      ),
      h(
        "div",
        { id: "drill-files" },
        table(fileColumns(data, list), {
          rows: list,
          sort: "at_stake_ns",
          caption: "Files by findings",
          file: "files-by-findings",
          step: 12,
          more: left,
          open: (row) => {
            this.show(row);
            this.place.scrollIntoView({ block: "nearest" });
            this.place.querySelector("h3").focus({ preventScroll: true });
          },
        }),
      ),
      this.place,
    );
    this.show(list.find((row) => row.x) ?? list[0]);
  }

  show(row) {
    this.view?.end();
    this.view = null;
    const path = this.data.text(row.n);
    clear(this.place).append(h("h3", { tabindex: "-1" }, "Accesses of ", name(path, 90)));
    if (!row.x) {
      this.place.append(
        h(
          "p",
          { class: "status" },
          "The accesses of this file are not in the page: iotrail advise TRAIL --accesses ",
          h("code", null, visible(path)),
        ),
      );
      return;
    }
    const list = loadAccesses(this.data, row.x, this.calls);
    const picture = h("div");
    this.place.append(h("p", { class: "status", id: "drill-status" }, inAll(row, list)), picture);
    this.view = new AccessView(this.data, row.x, list, picture);
    const missing = row.x.all[0] - list.length;
    this.place.append(
      h(
        "div",
        { class: "access-rows" },
        table(accessColumns(), {
          rows: list,
          sort: "start_ns",
          descending: false,
          caption: `Accesses of ${visible(path)}`,
          file: "accesses",
          step: 20,
          more:
            missing > 0
              ? `${plural(missing, "more access", "more accesses")} not in this file (iotrail advise --accesses)`
              : null,
          open: (access) => {
            this.view.show(access);
            this.view.svg.focus();
          },
        }),
      ),
    );
  }
}

/** Files by findings, and the accesses of one. */
export function drill(data, root) {
  if (data.drill.files.list.length === 0) {
    root.append(h("p", { class: "status", id: "drill-nothing" }, nothingToShow(data.drill.looked)));
    return;
  }
  new Drill(data, root);
}
