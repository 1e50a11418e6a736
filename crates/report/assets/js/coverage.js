// The coverage statement in full: what was recorded and what not, and every line of an imported trace.

import { h, name, visible } from "./dom.js";
import { count, percent } from "./format.js";
import { gaps } from "./summary.js";

const LINES = {
  event: "a whole call",
  unfinished: "first half of a call",
  resumed: "second half of a call",
  signal: "a signal",
  exit: "a process ended",
  noise: "recognised messages, dumps, stacks, tables",
  unparsed: "not understood",
};

export function coverage(data, root) {
  const { coverage: c, totals, recording } = data;
  const words = gaps(data);
  root.append(
    words.length > 0
      ? h(
          "ul",
          null,
          words.map((word) => h("li", null, `${word[0].toUpperCase()}${word.slice(1)}.`)),
        )
      : h(
          "p",
          null,
          c.notes.length > 0
            ? "Nothing was lost; what the record cannot show is in the notes."
            : "Nothing is known to be missing.",
        ),
  );
  if (data.why.limitations.length > 0)
    root.append(
      h("h3", null, "Of where the elapsed time went"),
      h(
        "ul",
        null,
        data.why.limitations.map((sentence) => h("li", null, visible(sentence))),
      ),
    );
  if (recording)
    root.append(
      h(
        "p",
        null,
        `Recorded: ${visible(recording.selected)}.`,
        recording.without.length > 0 ? ` Not recorded: ${visible(recording.without.join(", "))}.` : "",
        recording.costs.map((cost) => ` Cost: ${cost}.`),
      ),
    );
  const row = (label, value, share) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, label),
      h("td", { class: "number" }, count(value)),
      h("td", { class: "number" }, share ?? ""),
    );
  const block = (caption, rows) =>
    h("div", null, h("h3", null, caption), h("table", { class: "figures" }, h("tbody", null, rows)));
  root.append(
    h(
      "div",
      { class: "coverage" },
      block("Events", [
        row("Selected", totals.events),
        row("With an activity", totals.mapped, percent(totals.mapped / Math.max(totals.events, 1))),
        row("Without an activity", totals.unmapped, percent(totals.unmapped / Math.max(totals.events, 1))),
        row("Interrupted and restarted (not events)", c.interrupted),
        row("Ended by a signal (EINTR)", c.interrupted_ended),
        row("Interrupted, end unknown", c.interrupted_unknown),
        row("Seen only by half", c.incomplete),
        row("Command line or path cut by strace", c.cut_arguments),
        row("Known to be lost", c.lost),
        row("With a relative path", c.relative_paths),
      ]),
      c.lines.total > 0
        ? block("Lines of the trace", [
            row("Read", c.lines.total),
            ...Object.entries(LINES).map(([key, label]) =>
              row(label, c.lines[key], percent(c.lines[key] / c.lines.total)),
            ),
          ])
        : null,
      Object.keys(c.noise).length > 0
        ? block(
            "Known chatter",
            Object.entries(c.noise).map(([kind, number]) => row(kind, number)),
          )
        : null,
    ),
  );
  if (c.notes.length > 0)
    root.append(
      h("h3", null, "Notes"),
      h(
        "ul",
        null,
        c.notes.map((note) => h("li", null, note)),
      ),
    );
  if (c.examples.length > 0) {
    root.append(
      h("h3", null, "First lines that were not understood"),
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
              h("th", { scope: "col" }, "Input"),
              h("th", { scope: "col", class: "number" }, "Line"),
              h("th", { scope: "col" }, "Text"),
            ),
          ),
          h(
            "tbody",
            null,
            c.examples.map(({ file, line, text }) =>
              h(
                "tr",
                null,
                h("th", { scope: "row" }, name(file, 40)),
                h("td", { class: "number" }, count(line)),
                h("td", null, h("code", null, visible(text))),
              ),
            ),
          ),
        ),
      ),
    );
  }
}
