// A window of time: every panel shows what the command line says of the calls that begin in it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bytes, count, plural } from "../../crates/report/assets/js/format.js";
import { browser, openFile } from "./harness.js";
import { wrongCells } from "./measure.js";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const iotrail = process.env.IOTRAIL ?? join(root, "target/debug/iotrail");
const reports = join(here, "reports");
const trail = join(reports, "window.trail");
const file = join(reports, "window.html");
const run = (...words) => execFileSync(iotrail, ["-q", ...words], { encoding: "utf8", maxBuffer: 1 << 28 });
const query = ["--map", "dir2"];
let chromium, page, complaints, data;

before(async () => {
  mkdirSync(reports, { recursive: true });
  run("import", "--force", "-o", trail, join(root, "examples/ssf-fpp/traces"));
  run("report", trail, ...query, "-o", file);
  chromium = await browser();
  ({ page, complaints } = await openFile(chromium, file));
  await page.emulateMedia({ reducedMotion: "reduce" });
  data = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
});

after(async () => {
  assert.deepEqual(complaints, []);
  await chromium?.close();
});

/** A moment after the page's origin as the command line takes it. */
function moment(after) {
  const [, second, fraction] = /^(.*?)(?:\.(\d+))?Z$/.exec(data.origin);
  const nanos = BigInt((fraction ?? "0").padEnd(9, "0")) + BigInt(after);
  const date = new Date(`${second}Z`).getTime() + Number(nanos / 1_000_000_000n) * 1000;
  return `${new Date(date).toISOString().slice(0, 19)}.${String(nanos % 1_000_000_000n).padStart(9, "0")}Z`;
}

async function slide(id, value) {
  await page.evaluate(
    ([id, value]) => {
      const input = document.getElementById(id);
      input.value = value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    },
    [id, value],
  );
}

async function choose(from, to) {
  await slide("window-to", to);
  await slide("window-from", from);
}

const rows = (id) =>
  page.$$eval(`#${id} tbody tr`, (lines) =>
    lines.map((line) => [...line.children].map((cell) => cell.textContent.trim())),
  );
const everything = async () => {
  for (let more = true; more;) {
    more = await page.evaluate(() => {
      const further = [...document.querySelectorAll("#files-root button")].find(
        (button) => /^Show .* more rows$/.test(button.textContent) && !button.hidden,
      );
      further?.click();
      return Boolean(further);
    });
  }
};

test("in a window the drawing stays, and what does not occur in it is faint", async () => {
  const drawing = () =>
    page.$$eval("#graph-canvas .node, #graph-canvas .edge .line", (all) =>
      all
        .filter((one) => one.closest(".node, .edge").style.display !== "none")
        .map((one) => one.getAttribute("transform") ?? one.getAttribute("d")),
    );
  const faint = () =>
    page.$$eval("#graph-canvas .node", (all) => all.filter((one) => one.classList.contains("absent")).length);
  const most = await page.$eval("#slider-activities", (input) => input.value);
  await slide("slider-activities", Math.floor(most / 2));
  const before = await drawing();
  assert.equal(await faint(), 0);
  await choose(0, 1);
  assert.deepEqual(await drawing(), before);
  assert.ok((await faint()) > 0);
  const absent = (which) =>
    page.$$eval(`#graph-canvas .node${which} title`, (all) => all.map((one) => one.textContent));
  const [gone, left] = [await absent(".absent"), await absent(":not(.absent)")];
  const ways = await page.$$eval("#graph-canvas .projected", (all) =>
    all.map((one) => [one.querySelector("title").textContent, one.classList.contains("absent")]),
  );
  assert.ok(ways.length > 0, "some activities are hidden");
  const ends = (way, names) =>
    names.filter((name) => way.startsWith(`${name} →`) || way.includes(`→ ${name}: at most`));
  for (const [way, isFaint] of ways) {
    assert.ok(ends(way, [...gone, ...left]).length > 0, `none of the activities is an end of ${way}`);
    assert.equal(isFaint, ends(way, gone).length > 0, way);
  }
  assert.deepEqual([...new Set(ways.map(([, isFaint]) => isFaint))].sort(), [false, true], "ways of both kinds");
  await choose(0, data.slices.count);
  assert.equal(await faint(), 0);
  await slide("slider-activities", most);
});

test("files, groups and the graph of a window are those of its calls", async () => {
  const { count: slices, slice_ns: length, from: first } = data.slices;
  const [from, to] = [Math.floor(slices / 4), Math.floor((slices * 3) / 4)];
  await choose(from, to);
  const since = ["--since", moment(first + from * length), "--until", moment(first + to * length)];
  const selected = run("files", trail, ...since, "--json")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  await everything();
  const shown = new Map((await rows("files-root")).map((cells) => [cells[0], cells]));
  let compared = 0;
  for (const row of selected) {
    const cells = shown.get(row.path);
    if (!cells) continue;
    compared += 1;
    assert.deepEqual(cells.slice(2), [bytes(row.bytes_read), bytes(row.bytes_written), count(row.calls)], row.path);
  }
  assert.ok(compared > 5, `${compared} files compared`);

  const graph = JSON.parse(run("dfg", trail, ...query, ...since, "--json"));
  const nodes = new Map(graph.nodes.map((node) => [node.activity, node]));
  let drawn = 0;
  for (const [name, label] of await page.$$eval("#graph-canvas .node", (all) =>
    all
      .filter((node) => node.style.display !== "none")
      .map((node) => [node.querySelector("title").textContent, node.getAttribute("aria-label")]),
  )) {
    drawn += 1;
    // What began before the window and went on in it has time but no event.
    const events = nodes.get(name)?.count ?? 0;
    assert.ok(label.includes(`${plural(events, "event")}, `), `${label} has ${events}`);
  }
  assert.ok(drawn > 3, `${drawn} activities drawn`);

  const groups = await rows("phases-root");
  const calls = groups.reduce((sum, cells) => sum + Number(cells[3].replaceAll(",", "")), 0);
  assert.equal(calls, graph.events.total);
  assert.deepEqual(await wrongCells(page), []);
  assert.match(await page.textContent("#window-bar"), /^Shown: \+/);
});

test("the whole run comes back", async () => {
  const before = await rows("files-root");
  await page.click("#window-bar button");
  assert.equal(await page.isVisible("#window-bar"), false);
  const cells = await rows("files-root");
  assert.notDeepEqual(cells, before);
  await choose(0, data.slices.count);
  assert.deepEqual(await rows("files-root"), cells);
  assert.equal(await page.evaluate(() => document.documentElement.classList.contains("windowed")), false);
});

test("dragging over the heat map chooses the window", async () => {
  const canvas = page.locator("#rank-canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 12, { steps: 4 });
  await page.mouse.up();
  assert.equal(await page.isVisible("#window-bar"), true);
  const [from, to] = await page.$$eval("#window-from, #window-to", (inputs) =>
    inputs.map((input) => Number(input.value)),
  );
  assert.ok(from > 0 && to < data.slices.count && from < to, `${from} to ${to}`);
  await page.click("#window-bar button");
});
