// Puts the page together.

import { byId, h, shorten, visible } from "./dom.js";
import { load } from "./data.js";
import { activityBars, summary } from "./summary.js";
import { advice } from "./advice.js";
import { drill } from "./drill.js";
import { answer, waits } from "./answer.js";
import { files } from "./files.js";
import { timeWindow } from "./window.js";
import { HeatMap } from "./heat.js";
import { Graph } from "./graph.js";
import { panel } from "./panel.js";
import { variants } from "./variants.js";
import { TimelineView } from "./timeline.js";
import { comparison } from "./comparison.js";
import { LikenessView } from "./likeness.js";
import { tables } from "./tables.js";
import { coverage } from "./coverage.js";
import { loops } from "./loops.js";
import { phases } from "./phases.js";
import { Gantt } from "./gantt.js";
import { Flow } from "./flow.js";
import { Distributions } from "./distributions.js";
import { ThroughputView } from "./throughput.js";

function themeSwitch(changed) {
  const button = byId("theme");
  const label = () => {
    const set = document.documentElement.dataset.theme;
    button.textContent = set === "dark" ? "Dark" : set === "light" ? "Light" : "Auto";
    button.setAttribute("aria-label", `Colours: ${button.textContent}. Press to change`);
  };
  button.addEventListener("click", () => {
    const next = {
      undefined: matchMedia("(prefers-color-scheme: dark)").matches ? "light" : "dark",
      light: "dark",
      dark: "light",
    };
    document.documentElement.dataset.theme = next[document.documentElement.dataset.theme];
    label();
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  label();
}

function footer(data) {
  byId("footer").append(
    h(
      "p",
      null,
      `Made by iotrail ${data.version}`,
      data.command ? [" with ", h("code", null, visible(data.command))] : "",
      ". ",
      `Activities: ${visible(data.mapping)}. Cases: by ${visible(data.case_by)}. Max concurrency: ${data.concurrency_rule}. Quantiles are exact up to ${data.quantile_exact_limit.toLocaleString("en-US")} values`,
      data.quantile_relative_error > 0
        ? `, beyond with an error of at most ${(data.quantile_relative_error * 100).toFixed(1)} %.`
        : ".",
    ),
    h(
      "p",
      null,
      "Definitions: Sankaran et al., “Inspection of I/O Operations from System Call Traces using Directly-Follows-Graph”. This page is one file and loads nothing.",
    ),
  );
}

/** Whether variants say nothing: each of several cases is one of its own. */
function eachItsOwn({ variants: { list, more }, totals }) {
  return totals.cases > 1 && list.every((one) => one.c === 1) && more.variants === more.cases;
}

/** Takes a section out of the page with its way to it. */
function leaveOut(id) {
  byId(id).remove();
  document.querySelector(`nav a[href="#${id}"]`).remove();
}

/** The parts about the workflow; a part without data says why in one line. What must be drawn anew, and printed, is handed back. */
function workflow(data, time) {
  const { phases: table, processes, flow, distributions, throughput, absent, without } = data.workflow;
  const part = (id, there, build) => {
    if (without.includes(id)) return (leaveOut(id), null);
    if (there) return build(byId(`${id}-root`));
    const reason = absent.find(([name]) => name === id)?.[1];
    byId(id)
      .querySelectorAll("h2 ~ p")
      .forEach((text) => text.remove());
    byId(`${id}-root`).append(h("p", { class: "status" }, `Not shown: ${visible(reason ?? "there are no data")}.`));
    return null;
  };
  let gantt = null;
  part("phases", table, (root) =>
    phases(
      data,
      root,
      (row) => {
        byId("processes")?.scrollIntoView({ block: "start" });
        gantt?.group(row.index);
      },
      time,
    ),
  );
  gantt = part("processes", processes, (root) => new Gantt(data, root, byId("process-panel"), time));
  const graph = part("workflow", flow, (root) => new Flow(data, root, byId("flow-panel"), gantt));
  const curves = part(
    "distributions",
    distributions.length > 0 || throughput,
    (root) => distributions.length > 0 && new Distributions(data, root),
  );
  const bins =
    throughput && !without.includes("distributions") ? new ThroughputView(data, byId("throughput-root"), time) : null;
  const heat = bins ? new HeatMap(data, byId("heat-root"), time) : null;
  return { draw: () => [curves, bins, heat].forEach((one) => one && one.draw()), print: (on) => graph?.print(on) };
}

function start() {
  const data = load(byId("data"));
  byId("title").textContent = shorten(visible(data.title), 90);
  document.title = `${shorten(visible(data.title), 60)} – iotrail report`;
  const time = timeWindow(data);
  let graph = null;
  const stage = byId("graph-stage");
  const show = panel(data, byId("panel"), {
    choose: (what) => {
      graph.choose(what);
      if (what) graph.reveal(what);
    },
    closed: () => stage.classList.remove("open"),
    timeline: (index) => {
      timeline.show(index);
      byId("timeline").scrollIntoView({ block: "start" });
    },
  });
  const select = (what) => {
    show(what);
    stage.classList.toggle("open", Boolean(what));
  };
  const open = (what) => {
    graph.choose(what);
    graph.reveal(what);
    byId("graph").scrollIntoView({ block: "start" });
    byId("panel-title")?.focus({ preventScroll: true });
  };
  if (data.verdict) {
    byId("why-root").before(h("p", { class: "headline", id: "verdict" }, h("strong", null, visible(data.verdict))));
    byId("answer").after(byId("comparison"));
  }
  answer(data, byId("why-root"));
  summary(data, byId("summary"));
  advice(data, byId("advice-root"));
  drill(data, byId("drill-root"));
  waits(data, byId("waits-root"));
  files(data, byId("files-root"), byId("file-panel"), time);
  activityBars(data, byId("activity-bars"), (node) => open({ node }), time);
  graph = new Graph(data, byId("graph-root"), select, time);
  if (eachItsOwn(data)) leaveOut("variants");
  else variants(data, byId("variants-root"));
  const timeline = new TimelineView(data, byId("timeline-root"), time);
  if (data.comparison) {
    comparison(data, byId("comparison-root"), (change) => {
      const find = (index) =>
        index === null
          ? null
          : data.text(index) === "●"
            ? -1
            : data.text(index) === "■"
              ? -2
              : data.nodes.findIndex((node) => node.n === index);
      const [from, to] = [find(change[1]), find(change[2])];
      const edge = to === null ? -1 : data.edges.findIndex((one) => one.from === from && one.to === to);
      if (edge >= 0) open({ edge });
      else if (to === null && from >= 0) open({ node: from });
    });
  } else {
    leaveOut("comparison");
  }
  const likeness = data.likeness ? new LikenessView(data.likeness, byId("likeness-root")) : leaveOut("likeness");
  const parts = workflow(data, time);
  const sheets = tables(data, byId("tables-root"), open);
  if (data.structured) loops(data.structured, byId("loops-root"));
  else leaveOut("loops");
  coverage(data, byId("coverage-root"));
  footer(data);
  themeSwitch(() => {
    graph.draw();
    timeline.draw();
    parts.draw();
    likeness?.draw();
  });
  addEventListener("beforeprint", () => {
    sheets.prepare();
    graph.print(true);
    parts.print(true);
  });
  addEventListener("afterprint", () => {
    graph.print(false);
    parts.print(false);
  });
  document.documentElement.dataset.ready = "true";
}

start();
