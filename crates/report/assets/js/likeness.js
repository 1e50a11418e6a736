// The program beside the clone that a model makes of it: the verdict, groups, paths, curves over time, distributions.

import { choice, clear, h } from "./dom.js";
import { bytes, count, duration, list, percent, plural, rate } from "./format.js";
import { CurveChart, curveLegend } from "./curves.js";
import { PathChart, pathLegend } from "./path.js";
import { table } from "./table.js";
import { tick } from "./timeline.js";

/** From the best to the worst. */
const VERDICT_ORDER = ["equal", "within noise", "within tolerance", "undecided", "differs"];

/** What figures are, what a value of theirs is, and what a curve of theirs shows. */
const LIKENESS_FIGURES = {
  OS: ["files of a rank", count, "How many files of this class a rank uses."],
  OT: ["sessions of a file", count, "How often a file is opened."],
  D: ["requests of a session", count, "How many requests follow an open, the close among them."],
  ISG0: ["requests before the first open", count, "At which request of a rank a file is opened first."],
  ISG: ["requests between two sessions", count, "From the last request of a session to the next open of the file."],
  IRG: ["requests to the next of a session", count, "1 means that a rank does nothing else in between."],
  "SIZE of reads": ["bytes of a read", bytes, "How much a read asks for."],
  "SIZE of writes": ["bytes of a write", bytes, "How much a write asks for."],
  "ST (ns)": ["time before a request", duration, "What neither a request nor a wait explains: the program computes."],
  RT1: ["kinds of requests in sessions", null],
  RT2: ["kinds of requests outside sessions", null],
  AM: ["modes of opens", null],
  SEQ: ["share of transfers that follow each other", percent],
  FS: ["bytes of the largest file", bytes],
  operations: ["kinds of requests", null],
  requests: ["requests", count],
  "bytes read": ["bytes read", bytes],
  "bytes written": ["bytes written", bytes],
  "data requests (share)": ["share of requests that move data", percent],
  "elapsed, recorded (ns)": ["elapsed time", duration],
  "requests of a bin": [
    "requests of a bin of time",
    count,
    "How many requests begin in a bin: the further right the curve rises, the more they come in bursts (PIONEER, figure 7).",
  ],
};

const likenessFigure = (name) => LIKENESS_FIGURES[name] ?? [name, count, ""];

/** `0–3, 7`. */
function rankRanges(ranks) {
  const runs = [];
  for (const rank of ranks) {
    const last = runs.at(-1);
    if (last && last[1] + 1 === rank) last[1] = rank;
    else runs.push([rank, rank]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

export class LikenessView {
  constructor(likeness, root) {
    this.likeness = likeness;
    this.banded = likeness.program.runs > 1;
    this.charts = [];
    this.answer(root);
    this.groups(root);
    this.paths(root);
    this.overTime(root);
    this.distributions(root);
  }

  draw() {
    this.charts.forEach((chart) => chart.draw());
  }

  answer(root) {
    const { figures, verdict, program, clone, clone_source: source } = this.likeness;
    const counts = VERDICT_ORDER.map((word) => [word, figures.filter((one) => one.verdict === word).length]);
    const named = list(counts.filter(([, number]) => number > 0).map(([word, number]) => `${count(number)} ${word}`));
    const worst = figures
      .filter((one) => ["differs", "undecided"].includes(one.verdict))
      .sort((a, b) => VERDICT_ORDER.indexOf(b.verdict) - VERDICT_ORDER.indexOf(a.verdict) || b.distance - a.distance)
      .slice(0, 3);
    const head = {
      equal: "The clone equals the program",
      "within noise": "The clone is like another run of the program",
      "within tolerance": "The clone is close to the program",
      undecided: "Not every figure can be judged",
      differs: "The clone differs from the program",
    }[verdict];
    root.append(
      h(
        "p",
        { class: "headline", id: "likeness-verdict" },
        h("strong", null, head),
        `: of ${plural(figures.length, "figure")}, ${named}.`,
      ),
      worst.length > 0
        ? h(
            "p",
            { id: "likeness-worst" },
            `Furthest away: ${list(worst.map((one) => `${likenessFigure(one.name)[0]} (${one.class}) ${percent(one.distance)}`))}.`,
          )
        : null,
      h(
        "div",
        { class: "stack", role: "img", "aria-label": named },
        counts
          .filter(([, number]) => number > 0)
          .map(([word, number]) =>
            h("i", { class: `verdict-${word.replace(" ", "-")}`, title: `${number} ${word}`, style: { flex: number } }),
          ),
      ),
      h(
        "div",
        { class: "legend" },
        counts
          .filter(([, number]) => number > 0)
          .map(([word, number]) =>
            h(
              "span",
              { class: "key" },
              h("i", { class: `swatch verdict-${word.replace(" ", "-")}`, "aria-hidden": "true" }),
              `${count(number)} ${word}`,
            ),
          ),
      ),
      h(
        "p",
        { class: "status" },
        `${plural(program.runs, "recording")} of the program at ${plural(program.ranks, "rank")}; the clone at ${plural(clone.ranks, "rank")} ${source === "planned" ? "as the model plans it, with the times that it has: nothing was run" : `as recorded (${plural(clone.runs, "run")})`}. ${
          this.banded
            ? "Noise is what runs of the program differ among themselves; within noise means at most 1.5 times as far away, within tolerance at most 5 % (mixes 1 %)."
            : "One recording does not show the noise of the program: what is more than 5 % away (mixes 1 %) is undecided. Give two or more recordings."
        }`,
      ),
      this.figureTable(),
    );
  }

  figureTable() {
    const { figures } = this.likeness;
    const said = (value, name) => {
      const unit = likenessFigure(name)[1];
      if (value === null || !unit) return "–";
      const whole = Number.isInteger(value) || unit !== count;
      return whole ? unit(value) : value.toLocaleString("en-US", { maximumFractionDigits: 2 });
    };
    const share = (value) => (value === null ? "–" : percent(value));
    return table(
      [
        {
          key: "figure",
          label: "Figure",
          text: (row) => `${likenessFigure(row.name)[0]}`,
          value: (row) => likenessFigure(row.name)[0],
          exports: [["name", (row) => row.name]],
        },
        { key: "class", label: "Files", text: (row) => row.class, value: (row) => row.class },
        {
          key: "verdict",
          label: "Verdict",
          text: (row) => [
            h("i", { class: `swatch verdict-${row.verdict.replace(" ", "-")}`, "aria-hidden": "true" }),
            row.verdict,
          ],
          value: (row) => VERDICT_ORDER.indexOf(row.verdict) + Math.min(row.distance, 1e6) / 1e7,
          number: true,
          exports: [["verdict", (row) => row.verdict]],
        },
        {
          key: "program",
          label: "Program",
          text: (row) => said(row.program, row.name),
          value: (row) => row.program,
          number: true,
        },
        {
          key: "clone",
          label: "Clone",
          text: (row) => said(row.clone, row.name),
          value: (row) => row.clone,
          number: true,
        },
        {
          key: "distance",
          label: "Distance",
          title:
            "Median over pairs of runs: of totals |x − y|, of distributions Wasserstein's, as shares of the mean; of mixes total variation",
          text: (row) => share(row.distance),
          value: (row) => row.distance,
          number: true,
        },
        {
          key: "noise",
          label: "Noise",
          title: "The same between runs of the program",
          text: (row) => share(row.noise),
          value: (row) => row.noise,
          number: true,
        },
      ],
      { rows: figures, sort: "verdict", caption: "Figures of program and clone", file: "likeness", step: 12 },
    );
  }

  groups(root) {
    const { program, clone } = this.likeness;
    const rows = [
      ["program", program],
      ["clone", clone],
    ].flatMap(([side, { groups }]) => groups.map((group, at) => ({ side, at, ...group })));
    const most = ({ variants }) =>
      Object.entries(variants)
        .sort((a, b) => b[1] - a[1])
        .slice(0, 4)
        .map(([name, number]) => `${name} ${count(number)}`)
        .join(", ");
    root.append(
      h("h3", null, "Groups of ranks"),
      h(
        "p",
        { class: "status" },
        "Ranks of a group make the same mix of requests; the rank in its middle represents it.",
      ),
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Groups of ranks" },
        h(
          "table",
          { class: "small", id: "likeness-groups" },
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              ["Of", "Group", "Ranks", "Represented by", "Its requests", "Moving data", "Most frequent"].map(
                (text, at) => h("th", { scope: "col", class: at > 2 && at < 6 ? "number" : null }, text),
              ),
            ),
          ),
          h(
            "tbody",
            null,
            rows.map((row) =>
              h(
                "tr",
                null,
                h("th", { scope: "row" }, row.side),
                h("td", null, `${row.at + 1}`),
                h("td", null, rankRanges(row.ranks)),
                h("td", { class: "number" }, `rank ${row.representative}`),
                h("td", { class: "number" }, count(row.requests)),
                h("td", { class: "number" }, percent(row.requests > 0 ? row.data_requests / row.requests : null)),
                h("td", null, most(row)),
              ),
            ),
          ),
        ),
      ),
    );
  }

  paths(root) {
    const { program, clone } = this.likeness;
    const number = Math.max(program.paths.length, clone.paths.length);
    const longest = Math.max(...[...program.paths, ...clone.paths].map((path) => path.requests.length));
    const steps = [50, 200, longest].filter((step, at, all) => step <= longest && all.indexOf(step) === at);
    const view = { group: 0, span: steps[0] };
    const holder = h("div");
    const toolbar = h("div", { class: "toolbar" });
    if (number > 1)
      toolbar.append(
        choice(
          "Group",
          Object.fromEntries(
            Array.from({ length: number }, (_, at) => [
              at,
              `group ${at + 1} (rank ${(program.paths[at] ?? clone.paths[at]).rank})`,
            ]),
          ),
          "0",
          (value) => {
            view.group = Number(value);
            show();
          },
        ),
      );
    if (steps.length > 1)
      toolbar.append(
        choice(
          "Requests",
          Object.fromEntries(steps.map((step) => [step, `the first ${count(step)}`])),
          String(view.span),
          (value) => {
            view.span = Number(value);
            show();
          },
        ),
      );
    root.append(
      h("h3", null, "Sessions over the path"),
      h(
        "p",
        { class: "status" },
        "What the representative of a group does, request by request, in a row for each file (PIONEER, figure 2): where the two pictures look alike, the clone opens, uses and closes its files in the order of the program.",
      ),
      toolbar,
      pathLegend(),
      holder,
    );
    const charts = [
      new PathChart("path-program", "The program", holder),
      new PathChart("path-clone", "The clone", holder),
    ];
    this.charts.push(...charts);
    const show = () => {
      charts[0].show(program.paths[view.group], view.span);
      charts[1].show(clone.paths[view.group], view.span);
    };
    show();
  }

  overTime(root) {
    const { over_time: series, distributions } = this.likeness;
    const bins = series.bytes.program.length;
    const xs = Array.from({ length: bins }, (_, bin) => bin * series.bin_ns);
    const end = bins * series.bin_ns;
    const noise = series.noise === null ? "" : `, runs of the program ${percent(series.noise)} from each other`;
    const far =
      series.distance === null
        ? ""
        : ` The clone is ${percent(series.distance)} from the program${noise} (mean |x − y| over mean).`;
    const time = { xs, end, linear: true, xText: (value) => tick(value, series.bin_ns, end), xLabel: "+", height: 230 };
    const area = h("div", { class: "curves" });
    root.append(
      h("h3", null, "Curves over time"),
      h(
        "p",
        { class: "status" },
        `Bins of ${duration(series.bin_ns)}, from the first request of a run on.${this.banded ? "" : " With one recording there is no band of noise."}`,
      ),
      curveLegend(this.banded),
      area,
    );
    const speed = (value) => rate((value * 1e9) / series.bin_ns);
    this.chart(
      {
        ...time,
        id: "curve-bytes",
        title: "Throughput",
        says: `Bytes read and written (PIONEER, figure 5).${far}`,
        yText: speed,
        curves: series.bytes,
      },
      area,
    );
    this.chart(
      {
        ...time,
        id: "curve-ratio",
        title: "Data requests",
        says: "Share of the requests that move data; the others open, close, look and name (figure 6).",
        yText: percent,
        top: 1,
        curves: series.data_ratio,
      },
      area,
    );
    const [one, other] = series.dispersion;
    const dispersed =
      one === null || other === null
        ? ""
        : ` Variance over mean: program ${one.toFixed(2)}, clone ${other.toFixed(2)}; 1 would be chance, more are bursts.`;
    this.shares(
      distributions[0],
      "curve-arrivals",
      "Arrivals",
      `${likenessFigure("requests of a bin")[2]}${dispersed}`,
      area,
    );
  }

  distributions(root) {
    const { distributions, figures } = this.likeness;
    const classes = [...new Set(distributions.slice(1).map((one) => one.class))];
    if (classes.length === 0) return;
    const area = h("div", { class: "curves", id: "likeness-distributions" });
    const always = h("p", { class: "status", id: "likeness-always" });
    const badness = (one) =>
      VERDICT_ORDER.indexOf(figures.find((figure) => figure.class === one.class && figure.name === one.name)?.verdict);
    const show = (name) => {
      this.charts = this.charts.filter((chart) => !area.contains(chart.svg));
      clear(area);
      const own = distributions.slice(1).filter((one) => one.class === name);
      const [same, others] = [own.filter((one) => one.values.length === 1), own.filter((one) => one.values.length > 1)];
      others
        .sort((a, b) => badness(b) - badness(a))
        .forEach((one, at) => {
          const [title, , says] = likenessFigure(one.name);
          const found = figures.find((figure) => figure.class === one.class && figure.name === one.name);
          const verdict = found ? ` The clone: ${found.verdict}, ${percent(found.distance)} away.` : "";
          const heading = `${title[0].toUpperCase()}${title.slice(1)}`;
          this.shares(one, `shares-${at}`, heading, `${says}${verdict}`, area);
        });
      always.textContent =
        same.length === 0
          ? ""
          : `Always one value: ${same.map((one) => `${likenessFigure(one.name)[0]} ${likenessFigure(one.name)[1](one.values[0])}${lacking(one)}`).join("; ")}.`;
    };
    const lacking = ({ shares }) =>
      shares.clone[0] === null ? " (the clone has none)" : shares.program[0] === null ? " (the program has none)" : "";
    root.append(
      h("h3", null, "Distributions"),
      h(
        "p",
        { class: "status" },
        "Share of the values that are not larger; where the clone's line leaves the band, it is further from the program than its runs are from each other. The worst come first.",
      ),
      h(
        "div",
        { class: "toolbar" },
        choice("Files", Object.fromEntries(classes.map((name) => [name, `${name} files`])), classes[0], show),
      ),
      area,
      always,
    );
    show(classes[0]);
  }

  shares(one, id, title, says, area) {
    const unit = likenessFigure(one.name)[1];
    const { values } = one;
    const width = values.at(-1) - values[0];
    this.chart(
      {
        id,
        title,
        says,
        xs: values,
        end: values.at(-1) + Math.max(width * 0.04, 0.5),
        xText: unit,
        yText: percent,
        top: 1,
        curves: one.shares,
        height: 190,
      },
      area,
    );
  }

  chart(about, area) {
    this.charts.push(new CurveChart({ ...about, banded: this.banded }, area));
  }
}
