// What changed between two groups: activities first, what stands the test on top, then by time at stake.

import { h, name, shorten, visible } from "./dom.js";
import { bytes, count, duration, plural } from "./format.js";
import { GROUP_COLOURS } from "./colour.js";
import { table } from "./table.js";

const KINDS = {
  new: "new",
  gone: "gone",
  slower: "slower",
  faster: "faster",
  larger: "larger",
  smaller: "smaller",
  more: "more often",
  fewer: "less often",
};
const MEASURES = {
  duration_ns: ["time", duration],
  bytes: ["bytes", bytes],
  count: ["count", (value) => (Number.isInteger(value) ? count(value) : value.toFixed(2))],
  gap_ns: ["gap", duration],
};

export function comparison(data, root, open) {
  const c = data.comparison;
  const group = (text, index) =>
    h(
      "b",
      null,
      h("i", {
        class: "swatch",
        "aria-hidden": "true",
        style: { background: GROUP_COLOURS[index % GROUP_COLOURS.length] },
      }),
      shorten(visible(text), 50),
    );
  const place = (text) =>
    Math.max(
      data.groups.findIndex((one) => one.name === text),
      0,
    );
  const stands = c.list.filter((change) => change[10] === true).length;
  const [runsA, runsB, needed] = c.runs;
  const more =
    c.unit === "rank"
      ? `Record at least ${count(needed)} ranks of each variant`
      : `Record each variant at least ${count(needed)} times`;
  const chance =
    c.permutations === 0
      ? `Not tested, so every difference may be chance: ${count(runsA)} against ${count(runsB)} ${c.unit}s are too few. ${more}.`
      : `A permutation test over ${count(runsA)} against ${count(runsB)} ${c.unit}s, corrected for the number of tests: ${stands === 0 ? "no listed difference stands, so each may be chance." : `${plural(stands, "listed difference")} ${stands === 1 ? "stands" : "stand"}, every other one may be chance.`}`;
  root.append(
    h(
      "p",
      null,
      group(c.a, place(c.a)),
      " against ",
      group(c.b, place(c.b)),
      ": ",
      plural(c.list.length + c.more, "activity or transition differs", "activities and transitions differ"),
      ". ",
      c.per_case ? "Values are per rank, because runs have different numbers of ranks. " : "Values are per run. ",
      chance,
    ),
    c.exclusive
      ? h(
          "p",
          { class: "notice" },
          "Most of this is in one group only: the groups use different paths. Map them to one name (--map FILE) to see what became slower or faster.",
        )
      : "",
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "small groups" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["Group", "Cases", "Events", "Time in calls", "Bytes"].map((text, at) =>
              h("th", { scope: "col", class: at ? "number" : null }, text),
            ),
          ),
        ),
        h(
          "tbody",
          null,
          data.groups.map((one, index) =>
            h(
              "tr",
              null,
              h("th", { scope: "row" }, group(one.name, index)),
              [count(one.cases), count(one.events), duration(one.duration_ns), bytes(one.bytes)].map((text) =>
                h("td", { class: "number" }, text),
              ),
            ),
          ),
        ),
      ),
    ),
  );
  const signed = (text, value) => (value > 0 ? `+${text}` : text);
  const measure = (change) => MEASURES[change[3]] ?? [change[3], count];
  const what = (change) => data.text(change[1]) + (change[2] === null ? "" : ` → ${data.text(change[2])}`);
  const ratio = (value) => (value === null ? "–" : `×${value >= 100 ? count(value) : value.toFixed(2)}`);
  const p = (value) => (value < 0.001 ? "<0.001" : value.toFixed(3));
  const columns = [
    {
      key: "activity",
      label: "Activity or path",
      value: what,
      text: (change) =>
        change[2] === null
          ? name(data.text(change[1]), 54)
          : [name(data.text(change[1]), 34), " → ", name(data.text(change[2]), 34)],
    },
    {
      key: "change",
      label: "Change",
      value: (change) => change[0],
      text: (change) => h("span", { class: `change ${change[0]}` }, KINDS[change[0]] ?? change[0]),
    },
    { key: "measure", label: "Of", value: (change) => change[3], text: (change) => measure(change)[0] },
    {
      key: "a",
      label: shorten(visible(c.a), 18),
      number: true,
      value: (change) => change[4],
      text: (change) => measure(change)[1](change[4]),
    },
    {
      key: "b",
      label: shorten(visible(c.b), 18),
      number: true,
      value: (change) => change[5],
      text: (change) => measure(change)[1](change[5]),
    },
    {
      key: "difference",
      label: "Difference",
      number: true,
      value: (change) => change[6],
      text: (change) => signed(measure(change)[1](change[6]), change[6]),
    },
    { key: "ratio", label: "Ratio", number: true, value: (change) => change[7], text: (change) => ratio(change[7]) },
    {
      key: "time_at_stake_ns",
      label: "Time at stake",
      number: true,
      value: (change) => (change[8] === null ? null : Math.abs(change[8])),
      text: (change) => (change[8] === null ? "–" : signed(duration(change[8]), change[8])),
      title: "Difference of the time spent in it; positive if the second group spends more",
    },
    {
      key: "p_value",
      label: "Chance?",
      number: true,
      value: (change) => change[9],
      text: (change) =>
        change[9] === null
          ? "not tested"
          : change[10]
            ? `stands, p ${p(change[9])}`
            : h("span", { class: "noise" }, `may be, p ${p(change[9])}`),
    },
    {
      key: "also",
      label: "Also",
      value: (change) => change[11].map(([kind]) => kind).join(" "),
      text: (change) =>
        change[11]
          .map(([kind, times]) => `${KINDS[kind] ?? kind}${times === null ? "" : ` ${ratio(times)}`}`)
          .join(", "),
    },
  ];
  root.append(
    table(columns, {
      rows: c.list,
      caption: "What changed",
      file: "changes",
      step: 15,
      more: c.more > 0 ? `${plural(c.more, "more difference")} not in this file` : null,
      open: (change) => open(change),
    }),
  );
}
