// The loops of structures as a tree, the distributions of what is drawn, and who sends to whom.

import { h, name, s, visible } from "./dom.js";
import { bytes, count, duration, percent, plural } from "./format.js";

const SIZE_COLUMNS = ["requested", "size"];
const BYTE_COLUMNS = [...SIZE_COLUMNS, "sent", "received", "offset"];
const DRAWN_LABELS = { count: "count", ret: "result", peer: "partner", tag: "tag" };

const someDrawn = (row, columns) => row.drawn.some(({ column }) => columns.includes(column));
const drawnMark = (drawn) =>
  drawn ? h("abbr", { class: "drawn", title: "Drawn from a distribution; sums are exact" }, "~") : null;

function loopCount(row) {
  const [from, to] = row.count;
  if (from === 1 && to === 1) return null;
  return [drawnMark(someDrawn(row, ["count"])), from === to ? count(to) : `${count(from)}–${count(to)}`, " × "];
}

function loopSizes(row) {
  if (!row.bytes) return "";
  const [, min, max] = row.bytes;
  return [drawnMark(someDrawn(row, SIZE_COLUMNS)), min === max ? bytes(max) : `${bytes(min)} to ${bytes(max)}`];
}

function loopTree(structure) {
  const head = (label, number) => h("th", { scope: "col", class: number ? "number" : null }, label);
  const row = (one) =>
    h(
      "tr",
      null,
      h(
        "th",
        { scope: "row", style: { "padding-left": `${0.3 + 1.1 * Math.min(one.depth, 14)}rem` } },
        loopCount(one),
        one.call ? name(one.call, 44) : h("strong", null, "loop"),
        one.drawn
          .filter(({ column }) => column !== "count" && !SIZE_COLUMNS.includes(column))
          .map(({ column }) => [" ", drawnMark(true), DRAWN_LABELS[column] ?? column]),
        one.threads ? h("span", { class: "muted" }, ` threads ${visible(one.threads)}`) : null,
      ),
      h("td", { class: "number" }, String(one.item)),
      h("td", { class: "number" }, one.call ? count(one.count[2]) : ""),
      h("td", { class: "number" }, duration(one.time_ns)),
      h("td", { class: "number" }, percent(one.share)),
      h("td", { class: "number" }, one.bytes ? bytes(one.bytes[0]) : ""),
      h("td", { class: "number" }, loopSizes(one)),
      h(
        "td",
        null,
        one.files ? name(one.files[1] > 1 ? `${one.files[0]} (${count(one.files[1])} names)` : one.files[0], 56) : "",
      ),
    );
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `Loops of ${visible(structure.name)}` },
    h(
      "table",
      { class: "small loops" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          head("Loops and calls"),
          head("#", true),
          head("Calls", true),
          head("Time", true),
          head("Share", true),
          head("Bytes", true),
          head("Each", true),
          head("Files"),
        ),
      ),
      h("tbody", null, structure.rows.list.map(row)),
    ),
  );
}

/** A bar for each value or bucket of all clusters, those of one cluster in one shade. */
function drawnHistogram(row, { column, each_thread: eachThread, error_percent: error, clusters }) {
  const all = clusters.flatMap(({ values }, cluster) =>
    values.map(([from, to, number]) => ({ from, to, number, cluster })),
  );
  const most = Math.max(...all.map(({ number }) => number));
  const width = Math.max(2, Math.min(16, 300 / all.length));
  const show = BYTE_COLUMNS.includes(column) ? bytes : count;
  const label = DRAWN_LABELS[column] ?? column;
  const sum = clusters.reduce((sum, one) => (one.sum === null || sum === null ? null : sum + one.sum), 0);
  const number = clusters.reduce((sum, one) => sum + one.count, 0);
  const words = [
    `${plural(number, "value")}${eachThread ? " on each thread" : ""}, ${show(clusters[0].min)} to ${show(clusters.at(-1).max)}`,
    sum === null ? null : `sum ${show(sum)} (exact)`,
    clusters.length > 1 ? plural(clusters.length, "cluster") : null,
    error === null
      ? "drawn as a table of names or without a bound"
      : `each within ${error.toFixed(1)} % of the middle of its cluster`,
  ];
  const title = `${row.call ?? "loop"} #${row.item}: ${label}`;
  return h(
    "figure",
    { class: "histogram" },
    h("figcaption", null, h("strong", null, visible(title)), h("br"), words.filter(Boolean).join("; ")),
    s(
      "svg",
      {
        viewBox: `0 0 ${all.length * width} 48`,
        width: all.length * width,
        height: 48,
        role: "img",
        "aria-label": visible(title),
      },
      all.map(({ from, to, number, cluster }, place) =>
        s(
          "rect",
          {
            x: place * width,
            y: 48 - Math.max(1, (46 * number) / most),
            width: Math.max(1, width - 1),
            height: Math.max(1, (46 * number) / most),
            class: cluster % 2 === 0 ? "bar" : "bar other",
          },
          s("title", null, `${from === to ? show(from) : `${show(from)} to ${show(to)}`}: ${plural(number, "value")}`),
        ),
      ),
    ),
  );
}

function drawnColumns(structure) {
  const drawn = structure.rows.list.flatMap((row) => row.drawn.map((column) => [row, column]));
  if (drawn.length === 0) return null;
  return [
    h("h3", null, "What is drawn"),
    h(
      "p",
      null,
      "Marked ~ above. Of these values the structure keeps how they are distributed; where this page needs single ones, they are drawn from here, each once.",
    ),
    h(
      "div",
      { class: "histograms" },
      drawn.slice(0, 24).map(([row, column]) => drawnHistogram(row, column)),
    ),
    drawn.length > 24 ? h("p", { class: "status" }, `${count(drawn.length - 24)} more are not shown.`) : null,
  ];
}

function messageMatrix({ ranks, together, total, cells, rules }) {
  const side = Math.ceil(ranks / together);
  const size = Math.max(5, Math.min(28, Math.floor(360 / side)));
  const least = Math.min(...cells.map(([, , , sent]) => Math.max(sent, 1)));
  const most = Math.max(...cells.map(([, , , sent]) => Math.max(sent, 1)));
  const shade = (sent) =>
    most === least ? 1 : 0.25 + (0.75 * Math.log(Math.max(sent, 1) / least)) / Math.log(most / least);
  const label = (cell) =>
    together === 1 ? `rank ${cell}` : `ranks ${cell * together}–${Math.min((cell + 1) * together, ranks) - 1}`;
  const margin = 34;
  const every = Math.ceil((7 * String(ranks).length + 8) / size);
  const numbers = Array.from({ length: side }, (_, cell) => cell).filter((cell) => cell % every === 0);
  return [
    h("h3", null, "Who sends to whom"),
    h(
      "p",
      null,
      `${plural(total[0], "message")} with ${bytes(total[1])} between ${plural(ranks, "rank")} of MPI_COMM_WORLD. A row is what a rank sends, a column what a rank is sent${together > 1 ? `; a cell is ${together} by ${together} ranks` : ""}.`,
    ),
    h(
      "div",
      { class: "beside-matrix" },
      h(
        "div",
        { class: "scroll" },
        s(
          "svg",
          {
            class: "matrix",
            width: margin + side * size + 1,
            height: margin + side * size + 1,
            role: "img",
            "aria-label": "Bytes by sender and receiver",
          },
          numbers.map((cell) => [
            s(
              "text",
              { x: margin + (cell + 0.5) * size, y: margin - 6, "text-anchor": "middle" },
              String(cell * together),
            ),
            s(
              "text",
              { x: margin - 6, y: margin + (cell + 0.5) * size + 4, "text-anchor": "end" },
              String(cell * together),
            ),
          ]),
          s("rect", { x: margin, y: margin, width: side * size, height: side * size, class: "ground" }),
          cells.map(([from, to, messages, sent]) =>
            s(
              "rect",
              {
                x: margin + to * size,
                y: margin + from * size,
                width: size - 1,
                height: size - 1,
                class: "cell",
                style: { opacity: shade(sent).toFixed(2) },
              },
              s("title", null, `${label(from)} to ${label(to)}: ${plural(messages, "message")}, ${bytes(sent)}`),
            ),
          ),
        ),
      ),
      h(
        "table",
        { class: "small rules" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["To", "Pairs", "Messages", "Bytes"].map((text, place) =>
              h("th", { scope: "col", class: place > 0 ? "number" : null }, text),
            ),
          ),
        ),
        h(
          "tbody",
          null,
          rules.map(([to, pairs, messages, sent]) =>
            h(
              "tr",
              null,
              h("th", { scope: "row" }, visible(to)),
              h("td", { class: "number" }, count(pairs)),
              h("td", { class: "number" }, count(messages)),
              h("td", { class: "number" }, bytes(sent)),
            ),
          ),
        ),
      ),
    ),
  ];
}

export function loops({ structures, matrix: messages }, root) {
  for (const structure of structures) {
    if (structures.length > 1) root.append(h("h3", null, visible(structure.name)));
    root.append(
      h(
        "p",
        null,
        structure.precision ? `Precision ${structure.precision}.` : "Counts, sizes and offsets are as recorded.",
      ),
    );
    if (structure.fixed_counts)
      root.append(h("p", null, `All counts, partners and tags are exact: ${structure.fixed_counts}.`));
    if (structure.drawn_times)
      root.append(
        h(
          "p",
          null,
          "Times are drawn from distributions; sums are exact, the order of calls of different threads is not known.",
        ),
      );
    root.append(loopTree(structure));
    if (structure.rows.more > 0)
      root.append(h("p", { class: "status" }, `${count(structure.rows.more)} more loops and calls are not shown.`));
    const drawn = drawnColumns(structure);
    if (drawn) root.append(...drawn.filter(Boolean));
  }
  if (messages) root.append(...messageMatrix(messages));
}
