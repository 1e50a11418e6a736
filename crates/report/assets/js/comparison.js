// What changed between two groups, ordered by the time at stake.

import { h, name, shorten, visible } from "./dom.js";
import { bytes, count, duration, plural } from "./format.js";
import { GROUP_COLOURS } from "./colour.js";
import { table } from "./table.js";

const KINDS = { new: "new", gone: "gone", slower: "slower", faster: "faster", larger: "larger", smaller: "smaller", more: "more often", fewer: "less often" };
const MEASURES = { duration_ns: ["time", duration], bytes: ["bytes", bytes], count: ["count", (value) => (Number.isInteger(value) ? count(value) : value.toFixed(2))], gap_ns: ["gap", duration] };

export function comparison(data, root, open) {
  const c = data.comparison;
  const group = (text, index) => h("b", null, h("i", { class: "swatch", "aria-hidden": "true", style: { background: GROUP_COLOURS[index % GROUP_COLOURS.length] } }), shorten(visible(text), 50));
  const place = (text) => Math.max(data.groups.findIndex((one) => one.name === text), 0);
  const real = c.list.filter((change) => change[10] !== true).length;
  root.append(
    h("p", null, group(c.a, place(c.a)), " against ", group(c.b, place(c.b)), ": ", plural(c.list.length + c.more, "difference"), ". ",
      c.per_case ? "The groups differ in their number of cases, so values are for each case. " : "",
      c.permutations > 0 ? `A permutation test (${count(c.permutations)} relabellings of the cases) marks what noise explains; ${plural(real, "listed difference")} ${real === 1 ? "stands" : "stand"}.` : "The groups have too few cases for a test of noise, so every difference may be chance."),
    h("div", { class: "scroll" }, h("table", { class: "small groups" }, h("thead", null, h("tr", null, ["Group", "Cases", "Events", "Time in calls", "Bytes"].map((text, at) => h("th", { scope: "col", class: at ? "number" : null }, text)))),
      h("tbody", null, data.groups.map((one, index) => h("tr", null, h("th", { scope: "row" }, group(one.name, index)), [count(one.cases), count(one.events), duration(one.duration_ns), bytes(one.bytes)].map((text) => h("td", { class: "number" }, text))))))));
  const signed = (text, value) => (value > 0 ? `+${text}` : text);
  const measure = (change) => MEASURES[change[3]] ?? [change[3], count];
  const what = (change) => data.text(change[1]) + (change[2] === null ? "" : ` → ${data.text(change[2])}`);
  const ratio = (value) => (value === null ? "–" : `×${value >= 100 ? count(value) : value.toFixed(2)}`);
  const columns = [
    { key: "activity", label: "Activity or path", value: what, text: (change) => (change[2] === null ? name(data.text(change[1]), 54) : [name(data.text(change[1]), 34), " → ", name(data.text(change[2]), 34)]) },
    { key: "change", label: "Change", value: (change) => change[0], text: (change) => h("span", { class: `change ${change[0]}` }, KINDS[change[0]] ?? change[0]) },
    { key: "measure", label: "Of", value: (change) => change[3], text: (change) => measure(change)[0] },
    { key: "a", label: shorten(visible(c.a), 18), number: true, value: (change) => change[4], text: (change) => measure(change)[1](change[4]) },
    { key: "b", label: shorten(visible(c.b), 18), number: true, value: (change) => change[5], text: (change) => measure(change)[1](change[5]) },
    { key: "difference", label: "Difference", number: true, value: (change) => change[6], text: (change) => signed(measure(change)[1](change[6]), change[6]) },
    { key: "ratio", label: "Ratio", number: true, value: (change) => change[7], text: (change) => ratio(change[7]) },
    { key: "time_at_stake_ns", label: "Time at stake", number: true, value: (change) => Math.abs(change[8]), text: (change) => signed(duration(change[8]), change[8]), title: "Difference of the time spent in it; positive if the second group spends more" },
    { key: "p_value", label: "Noise?", number: true, value: (change) => change[9], text: (change) => (change[10] === null ? "untested" : change[10] ? h("span", { class: "noise" }, `may be noise, p ${change[9].toFixed(3)}`) : `no, p ${change[9] < 0.001 ? "<0.001" : change[9].toFixed(3)}`) },
  ];
  root.append(table(columns, { rows: c.list, sort: "time_at_stake_ns", caption: "What changed", file: "changes", step: 15,
    more: c.more > 0 ? `${plural(c.more, "smaller difference")} not in this file` : null, open: (change) => open(change) }));
}
