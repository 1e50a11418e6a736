// The parts of the page about the workflow: phases, processes over time, the graph, distributions and throughput.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, open, sample, size } from "./harness.js";

let chromium;
before(async () => {
  chromium = await browser();
});
after(async () => {
  await chromium.close();
});

/** A test on a freshly opened report, which must neither complain nor load anything. */
function on(kind, name, body, options) {
  test(name, async () => {
    const { page, complaints } = await open(chromium, kind, options);
    await body(page);
    assert.deepEqual(complaints, []);
    await page.close();
  });
}

const text = (page, selector) => page.locator(selector).innerText();
const rows = (page) => page.locator(".gantt-row").count();

on(
  "workflow",
  "parts come in the order of questions; process groups have bars, sort, and leave as CSV with a column for each use",
  async (page) => {
    const order = await page.locator("main > section").evaluateAll((all) => all.map((one) => one.id));
    const parts = [
      "answer",
      "advice",
      "time",
      "processes",
      "waits",
      "files",
      "phases",
      "graph",
      "workflow",
      "variants",
    ];
    assert.deepEqual(
      order,
      [...parts, "distributions", "tables", "coverage"].filter((one) => order.includes(one)),
    );
    assert.match(await text(page, "#phases"), /5 groups of processes, by exe\. Together 83 processes read/);
    assert.match(await text(page, "#phases"), /Layers: bytes, calls, files and processes are what calls moved/);
    const first = () => page.locator("#phases tbody tr").first().innerText();
    assert.match(await first(), /^make/);
    await page.locator("#phases thead button", { hasText: "Written" }).click();
    assert.match(await first(), /^project\s+40[\s\S]*80\.0 MB[\s\S]*320 MB/);
    assert.ok((await page.locator("#phases .track .fill").count()) > 4);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("#phases button", { hasText: "Download CSV" }).click(),
    ]);
    const { readFileSync } = await import("node:fs");
    assert.match(
      readFileSync(await download.path(), "utf8").split("\r\n")[0],
      /files_ro,files_wo,files_rw,files_none,processes_ro/,
    );
  },
);

on("workflow", "a phase leads to its processes", async (page) => {
  await page.locator("#phases tbody button", { hasText: "fit" }).click();
  assert.match(await text(page, "#process-panel"), /fit × 40[\s\S]*Processes\s+40[\s\S]*Failed\s+1/);
});

on("workflow", "many processes alike share a row until it is opened", async (page) => {
  assert.equal(await rows(page), 5);
  assert.match(await text(page, "#gantt-status"), /83 processes in 5 rows; 3 have a row of their own/);
  await page.locator('.gantt-row[aria-label^="fit × 40"] .twisty').click();
  assert.equal(await rows(page), 45);
  await page.locator(".gantt-row", { hasText: "fit607" }).click();
  const panel = await text(page, "#process-panel");
  assert.match(
    panel,
    /fit 7[\s\S]*Made by\s+make 100[\s\S]*Life\s+30\.0 ms[\s\S]*CPU time\s+10\.0 ms\s+33\.3 %[\s\S]*Exit\s+1/,
  );
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#process-panel").isVisible(), false);
});

on("workflow", "the tree goes with keys and says what is unknown", async (page) => {
  await page.locator(".gantt-row").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  assert.equal(await rows(page), 45);
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.match(await focused(), /^project × 40/);
  await page.keyboard.press("ArrowRight");
  assert.match(await focused(), /^project, process 200/);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await rows(page), 5);
  const before = await text(page, "#gantt-status");
  await page.keyboard.press("+");
  assert.notEqual(await text(page, "#gantt-status"), before);
  await page.keyboard.press("0");
  assert.equal(await text(page, "#gantt-status"), before);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  assert.match(await text(page, "#process-panel"), /Ended\s+never seen[\s\S]*Life\s+≥/);
});

on("workflow", "a pointer over a row names the process", async (page) => {
  await page.locator('.gantt-row[aria-label^="show"]').hover();
  assert.match(await text(page, "#gantt-frame .tip"), /show 901[\s\S]*end never seen/);
});

on("workflow", "the graph joins alike vertices, opens them, and says what it shows", async (page) => {
  const nodes = page.locator("#flow-canvas .node");
  const before = await nodes.count();
  assert.match(await text(page, "#flow-status"), /83 processes and \d+ files .* closed; \d+ edges/);
  await page.locator('#flow-canvas .node[aria-label*="/data/raw/{}.fits"]').dispatchEvent("click");
  assert.match(
    await text(page, "#flow-panel"),
    /Files[\s\S]*\/data\/raw\/\{\}\.fits[\s\S]*Files\s+40[\s\S]*Read of them\s+80\.0 MB[\s\S]*To[\s\S]*project 80\.0 MB/,
  );
  await page.locator("#flow-panel button", { hasText: "Open the box" }).click();
  assert.equal(await nodes.count(), before + 40);
  assert.match(await text(page, "#flow-status"), /1 opened with 40 members/);
  const boxes = await page
    .locator("#flow-canvas .node:not(.container) .body:last-of-type")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  for (const [i, a] of boxes.entries())
    for (const b of boxes.slice(i + 1))
      assert.ok(
        a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1,
        JSON.stringify([a, b]),
      );
  await page.locator("#flow-panel button", { hasText: "Close the box" }).click();
  assert.equal(await nodes.count(), before);
});

on("workflow", "the graph goes with keys, finds members, and leads to the processes", async (page) => {
  await page.locator("#flow-canvas").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.classList.contains("node")), true);
  const before = await page.locator("#flow-canvas .node").count();
  await page.locator('#flow-canvas .node[aria-label^="fit"]').focus();
  await page.keyboard.press(" ");
  assert.equal(await page.locator("#flow-canvas .node").count(), before + 40);
  await page.keyboard.press("Enter");
  assert.match(await text(page, "#flow-panel"), /Processes[\s\S]*fit/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#flow-panel").isVisible(), false);
  await page.locator("#flow-search").fill("fit 7");
  await page.keyboard.press("Enter");
  assert.match(await text(page, "#flow-panel"), /Process[\s\S]*fit 607[\s\S]*From[\s\S]*7\.fits read 8\.00 MB/);
  await page.locator("#flow-panel button", { hasText: "Show among the processes" }).click();
  assert.match(await text(page, "#process-panel"), /fit 7/);
});

on("workflow", "an edge has its figures, and its width shows what is asked for", async (page) => {
  const line = page.locator('#flow-canvas .edge[aria-label*="→ project"][aria-label*="MB"]').first();
  await line.dispatchEvent("click");
  assert.match(
    await text(page, "#flow-panel"),
    /Edge[\s\S]*Meaning\s+read[\s\S]*Edges\s+40[\s\S]*Read\s+80\.0 MB[\s\S]*Rate\s+\d/,
  );
  const widths = () =>
    page
      .locator("#flow-canvas .edge .line")
      .evaluateAll((all) => all.map((one) => one.getAttribute("stroke-width")).join());
  const before = await widths();
  await page.locator('#workflow-root select[aria-label="Width of an edge"]').selectOption("slow");
  assert.notEqual(await widths(), before);
});

on("workflow", "the critical path is marked and listed, and its shares are said", async (page) => {
  assert.ok((await page.locator("#flow-canvas .node.marked").count()) > 2);
  await page.locator(".check input").uncheck();
  assert.equal(await page.locator("#flow-canvas .marked").count(), 0);
  assert.match(await text(page, ".critical-path"), /What the run waited for: \d[\s\S]*%/);
  await page.locator(".critical-path summary").click();
  assert.ok((await page.locator(".steps li").count()) > 2);
});

on("workflow", "distributions switch, zoom, and read out values", async (page) => {
  const series = page.locator("#distribution-chart .series");
  await page.locator('select[aria-label="Quantity"]').selectOption("process-read");
  assert.match(
    await text(page, "#distribution-status"),
    /Bytes read by a process[\s\S]*Each value counts once, never by its size/,
  );
  const before = await series.count();
  await page.locator(".toggle").first().click();
  assert.equal(await series.count(), before - 1);
  await page.locator(".toggle").first().click();
  await page.locator("#distribution-chart").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await text(page, "#distributions-root .tip"), /≤ [\s\S]*%/);
  const ticks = () =>
    page
      .locator("#distribution-chart .axes text")
      .allInnerTexts()
      .then((all) => all.join());
  const axis = await ticks();
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  assert.notEqual(await ticks(), axis);
  await page.keyboard.press("0");
  assert.equal(await ticks(), axis);
  await page.locator('select[aria-label="Show as"]').selectOption("histogram");
  assert.ok((await page.locator("#distribution-chart .filled").count()) > 0);
  await page.locator('select[aria-label="Horizontal axis"]').selectOption("linear");
  await page.locator("#distributions-root summary").click();
  assert.match(await text(page, "#distributions-root table"), /project[\s\S]*2\.00 MB/);
});

on("workflow", "throughput is stacked by group and read out by bins", async (page) => {
  assert.match(
    await text(page, "#throughput-status"),
    /by group, one above the other, in \d+ bins[\s\S]*Layer: system calls/,
  );
  await page.locator("#throughput-chart").focus();
  for (let step = 0; step < 12; step += 1) await page.keyboard.press("ArrowRight");
  assert.match(await text(page, "#throughput-root .tip"), /\+/);
  await page.locator('#throughput-root select[aria-label="Measure"]').selectOption("calls");
  assert.match(await text(page, "#throughput-status"), /^Calls by group/);
});

on("workflow", "hostile names of programs, commands and files are inert", async (page) => {
  for (const node of await page.locator("#flow-canvas .node").all()) await node.dispatchEvent("click");
  for (const row of await page.locator(".gantt-row").all()) await row.click();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("main img").count(), 0);
  const everything = await page.evaluate(() =>
    [...document.querySelectorAll("body *:not(script):not(style)")]
      .flatMap((one) => [
        ...[...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
        ...one.getAttributeNames().map((name) => one.getAttribute(name)),
      ])
      .join(" "),
  );
  assert.equal(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(everything), false);
  assert.ok(everything.includes("\\u{202e}"));
});

on(
  "workflow",
  "dark mode reaches the new parts",
  async (page) => {
    const colours = () =>
      page.evaluate(() =>
        [".flow .body.file", ".gantt-head", ".toggle"].map((one) => {
          const style = getComputedStyle(document.querySelector(one));
          return `${style.fill} ${style.backgroundColor}`;
        }),
      );
    const dark = await colours();
    await page.locator("#theme").click();
    (await colours()).forEach((colour, at) => assert.notEqual(colour, dark[at]));
  },
  { colorScheme: "dark" },
);

for (const [width, kind] of [
  [360, "workflow"],
  [800, "workflow"],
  [2560, "workflow"],
]) {
  on(
    kind,
    `the workflow does not stick out at ${width} pixels`,
    async (page) => {
      await page.locator(".gantt-row").first().click();
      await page.locator("#flow-canvas .node").first().dispatchEvent("click");
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    },
    { viewport: { width, height: 900 } },
  );
}

on("runs", "ranks are a map of their own", async (page) => {
  assert.match(await text(page, "#rank-status"), /\d+ ranks by \d+ bins/);
  const painted = await page
    .locator("#rank-canvas")
    .evaluate((canvas) => new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size);
  assert.ok(painted > 10);
});

on("empty", "a log without processes says why parts are not there", async (page) => {
  assert.match(await text(page, "#processes"), /Not shown: no process with a known time/);
  assert.match(await text(page, "#workflow"), /Not shown: /);
  assert.match(await text(page, "#distributions"), /Not shown: /);
});

test("the page with a workflow stays small", () => {
  assert.ok(size(sample("workflow")) < 1_000_000, `${size(sample("workflow"))} bytes`);
});
