// What to change: findings with most at stake first. The answer names the foremost, a section has all with what they mean.

import { h, name, visible } from "./dom.js";
import { count, duration, percent, plural } from "./format.js";

/** Time that may be saved of the whole, and its share. */
function atStake(finding) {
  const { at_stake_ns: time, share } = finding;
  return [
    h("b", { class: "number" }, time === null ? "unknown" : time > 0 ? duration(time) : "none"),
    h("span", { class: "number" }, time > 0 && share !== null ? percent(share) : ""),
  ];
}

/** The findings with most at stake, for the first block; nothing if little is. */
export function foremostAdvice(data) {
  const list = data.advice.list.filter((finding) => finding.foremost);
  if (list.length === 0) return null;
  return h(
    "div",
    { id: "foremost" },
    h("h3", null, "What to change"),
    h(
      "ol",
      { class: "changes" },
      list.map((finding) =>
        h(
          "li",
          null,
          atStake(finding),
          h("span", { class: "what" }, visible(data.text(finding.title)), h("small", { class: "fix" }, finding.fix)),
        ),
      ),
    ),
    h("p", { class: "status" }, h("a", { href: "#advice" }, "All findings"), ", and what they assume"),
  );
}

/** What an experiment said, as `iotrail advise` words it. */
function measured([ratio, least, most, runs, cache]) {
  const times = (number) => number.toFixed(2);
  return `${times(ratio)} times as fast (${times(least)} to ${times(most)} in ${count(runs)} runs, ${cache} cache)`;
}

function entry(data, finding) {
  const saved = [
    finding.saved_calls > 0 ? plural(finding.saved_calls, "call") : null,
    finding.saved_ns === null
      ? null
      : `${duration(finding.saved_ns)} in these calls, whether anybody waits for them or not`,
  ].filter(Boolean);
  const [process, call] = finding.example;
  const rows = [
    ["Do", finding.fix],
    ["If", finding.assumes],
    ["Saves", saved.join(", ")],
    ["Measured", finding.measured && measured(finding.measured)],
    ["Example", `process ${process}, call ${count(call)} of its case`],
    ["Rule", `${finding.rule}: iotrail advise --explain ${finding.rule}`],
  ].filter(([, text]) => text);
  return h(
    "details",
    { class: `finding ${finding.severity}` },
    h("summary", null, atStake(finding), h("span", { class: "what" }, name(data.text(finding.title), 140))),
    h(
      "dl",
      null,
      rows.map(([term, text]) => [h("dt", null, term), h("dd", null, visible(text))]),
    ),
  );
}

/** All findings. */
export function advice(data, root) {
  const { list, more } = data.advice;
  if (list.length === 0) {
    root.append(
      h("p", { class: "status" }, "Nothing found: no calls that could be fewer, and no habit that costs time."),
    );
    return;
  }
  root.append(
    h(
      "p",
      null,
      "Time at stake is the part of the elapsed time that may go away with a finding, and its share. Where it is “none” nobody waits for these calls.",
    ),
    ...list.map((finding) => entry(data, finding)),
    more > 0
      ? h("p", { class: "status" }, `${plural(more, "finding")} with less at stake not in this file (iotrail advise)`)
      : "",
  );
  root.querySelector("details").open = true;
}
