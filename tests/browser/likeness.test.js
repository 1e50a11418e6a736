// The section of a program and its clone: against the data of `iotrail report --json`, at three widths, in both themes.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { percent } from "../../crates/report/assets/js/format.js";
import { browser, openFile } from "./harness.js";
import { wrongBoxes, wrongCells } from "./measure.js";

const here = dirname(fileURLToPath(import.meta.url));
const iotrail = process.env.IOTRAIL ?? join(here, "../../target/debug/iotrail");
const work = join(here, "reports/likeness");
const run = (...words) => execFileSync(iotrail, ["-q", ...words], { cwd: work, encoding: "utf8", maxBuffer: 1 << 28 });

/** Four ranks that write a file each, then a shared one in turns; the root writes a log. `slower` stretches the time between calls. */
function traces(name, slower) {
  for (let rank = 0; rank < 4; rank += 1) {
    const lines = [];
    let clock = 100 * rank;
    const call = (text) => {
      clock += 1000 + slower * ((clock * 7919) % 900);
      const micros = String(Math.round(clock)).padStart(6, "0");
      lines.push(`${50 + rank} 10:00:00.${micros} ${text} <0.000100>`);
    };
    call('execve("/data/app", ["app"], 0x7ff /* 1 var */) = 0');
    call("brk(NULL) = 0x5581");
    for (let step = 0; step < 6; step += 1) {
      const file = `/data/ckpt.${rank}`;
      call(`openat(AT_FDCWD, "${file}", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3<${file}>`);
      for (let at = 0; at < 4; at += 1) call(`write(3<${file}>, "x"..., ${4096 + 512 * at}) = ${4096 + 512 * at}`);
      call(`fsync(3<${file}>) = 0`);
      call(`close(3<${file}>) = 0`);
      call('openat(AT_FDCWD, "/data/shared", O_RDWR|O_CREAT, 0666) = 3</data/shared>');
      call(`pwrite64(3</data/shared>, "x"..., 512, ${512 * (step * 4 + rank)}) = 512`);
      call("close(3</data/shared>) = 0");
      if (rank === 0) {
        call('openat(AT_FDCWD, "/data/log", O_WRONLY|O_CREAT|O_APPEND, 0666) = 3</data/log>');
        call('write(3</data/log>, "x"..., 20) = 20');
        call("close(3</data/log>) = 0");
      }
    }
    writeFileSync(join(work, `${name}_host_${rank}.st`), `${lines.join("\n")}\n`);
  }
  run("import", "-o", `${name}.trail`, ...[0, 1, 2, 3].map((rank) => `${name}_host_${rank}.st`));
}

let chromium;
before(async () => {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  ["one", "two", "three"].forEach((name, at) => traces(name, at / 3));
  run("characterize", "one.trail", "--names", "keep", "-o", "m.toml");
  run("report", "one.trail", "two.trail", "three.trail", "--workload", "m.toml", "-o", "several.html");
  run("report", "one.trail", "--workload", "m.toml", "-o", "one.html");
  run("report", "one.trail", "-o", "without.html");
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
});

const data = (...trails) => JSON.parse(run("report", ...trails, "--workload", "m.toml", "--json")).likeness;

test("the verdict comes first, and every figure has its row", async () => {
  const { page, complaints } = await openFile(chromium, join(work, "several.html"));
  const likeness = data("one.trail", "two.trail", "three.trail");
  const { figures } = likeness;
  const equal = figures.filter((figure) => figure.verdict === "equal").length;
  const text = await page.locator("#likeness-verdict").innerText();
  assert.match(text, new RegExp(`of ${figures.length} figures, ${equal} equal`));
  const more = page.locator("#likeness-root .table-block > button");
  while (await more.isVisible()) await more.click();
  const rows = await page
    .locator("#likeness-root .table-block tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.innerText.trim())));
  assert.equal(rows.length, figures.length);
  const seen = rows
    .map(([, files, verdict, , , distance, noise]) => [files, verdict, distance, noise].join("|"))
    .sort();
  const wanted = figures
    .map((one) => [one.class, one.verdict, percent(one.distance), percent(one.noise)].join("|"))
    .sort();
  assert.deepEqual(seen, wanted);
  assert.ok(!rows.flat().some((cell) => /NaN|undefined|Infinity/.test(cell)));
  assert.deepEqual(complaints, []);
  await page.close();
});

test("groups, paths and curves of program and clone are drawn, noise as a band", async () => {
  const { page, complaints } = await openFile(chromium, join(work, "several.html"));
  const likeness = data("one.trail", "two.trail", "three.trail");
  assert.equal(await page.locator("#likeness-groups tbody tr").count(), 4, "two groups of each");
  for (const side of ["program", "clone"]) {
    const path = likeness[side].paths[0];
    const shown = path.requests.slice(0, 50);
    const sessions = new Set(shown.map(({ session }) => session).filter((one) => one !== null));
    assert.equal(await page.locator(`#path-${side} rect.session`).count(), sessions.size);
    const written = await page.locator(`#path-${side} .deed-write`).getAttribute("d");
    assert.equal(written.match(/z/g).length, shown.filter(({ deed }) => deed === "write").length);
  }
  await page.locator("#likeness-root").getByLabel("Group", { exact: true }).selectOption("1");
  const { rank } = likeness.program.paths[1];
  assert.match(await page.locator("#likeness-root").innerText(), new RegExp(`requests of rank ${rank},`));
  for (const chart of ["curve-bytes", "curve-ratio", "curve-arrivals"]) {
    assert.equal(await page.locator(`#${chart} .curve-band`).count(), 1, chart);
    for (const line of ["program", "clone"]) {
      const d = await page.locator(`#${chart} .curve-${line}`).getAttribute("d");
      assert.match(d, /^M[\d.]+ [\d.]+H/, `${chart} ${line}`);
      assert.doesNotMatch(d, /NaN/);
    }
  }
  await page.locator("#curve-bytes").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#curve-bytes + .tip").innerText(), /program [\d.]+ [kM]?B\/s \(.* to .*\)\s+clone/);
  const kinds = await page
    .locator("#likeness-root")
    .getByLabel("Files", { exact: true })
    .locator("option")
    .allInnerTexts();
  assert.deepEqual(kinds, ["private files", "root files", "shared files"]);
  for (const kind of ["root", "shared", "private"]) {
    await page.locator("#likeness-root").getByLabel("Files", { exact: true }).selectOption(kind);
    const wanted = likeness.distributions.slice(1).filter((one) => one.class === kind);
    const charts = await page.locator("#likeness-distributions figure").count();
    assert.equal(charts, wanted.filter((one) => one.values.length > 1).length, kind);
    const always = await page.locator("#likeness-always").innerText();
    assert.equal(always.split(";").length, wanted.filter((one) => one.values.length === 1).length, always);
  }
  assert.deepEqual(complaints, []);
  await page.close();
});

test("one recording has no band, and says that nobody knows its noise", async () => {
  const { page, complaints } = await openFile(chromium, join(work, "one.html"));
  assert.equal(await page.locator("#likeness-root .curve-band").count(), 0);
  assert.match(await page.locator("#likeness-root").innerText(), /One recording does not show the noise/);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a page without a model has no such section", async () => {
  const { page, complaints } = await openFile(chromium, join(work, "without.html"));
  assert.equal(await page.locator("#likeness, nav a[href='#likeness']").count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
});

for (const width of [1400, 1000, 420])
  for (const colorScheme of ["light", "dark"])
    test(`nothing of it is wider than a window of ${width} points, ${colorScheme}`, async () => {
      const options = { viewport: { width, height: 900 }, colorScheme };
      const { page, complaints } = await openFile(chromium, join(work, "several.html"), options);
      assert.deepEqual(await wrongCells(page), []);
      assert.deepEqual(await wrongBoxes(page), []);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll("#likeness svg.chart[id] text")]
          .map((text) => [text.textContent, text.getBoundingClientRect(), text.closest("svg").getBoundingClientRect()])
          .filter(([, text, svg]) => text.width > 0 && (text.left < svg.left - 1 || text.right > svg.right + 1))
          .map(([text]) => text),
      );
      assert.deepEqual(cut, [], "labels within their charts");
      assert.deepEqual(complaints, []);
      await page.close();
    });
