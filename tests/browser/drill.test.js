// From findings to files to accesses: what the page shows is what `iotrail advise` says, and the call in the way is named.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { browser, openFile } from "./harness.js";

const here = dirname(fileURLToPath(import.meta.url));
const iotrail = process.env.IOTRAIL ?? join(here, "../../target/debug/iotrail");
const reports = join(here, "reports/drill");
const run = (...words) =>
  execFileSync(iotrail, ["-q", ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
let chromium;

/** The begin of a trace with all calls, so that offsets are known. */
const START = [
  '1 10:00:00.000000 execve("/usr/bin/log", ["log"], 0x7ffd /* 3 vars */) = 0 <0.000100>',
  "1 10:00:00.000200 brk(NULL) = 0x5555 <0.000010>",
  "1 10:00:00.000300 getpid() = 1 <0.000010>",
  "1 10:00:00.000400 rt_sigaction(SIGINT, NULL, {sa_handler=SIG_DFL}, 8) = 0 <0.000010>",
];

/** A program writes eight records of 100 bytes, another one reads the second of them before the sixth; then it reads another file in pieces. */
function trace() {
  const lines = [
    ...START,
    "1 10:00:00.001000 fork() = 2 <0.000200>",
    '1 10:00:00.002000 openat(AT_FDCWD, "/data/log", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3</data/log> <0.000010>',
  ];
  for (let record = 0; record < 8; record += 1) {
    lines.push(`1 10:00:00.01${record}000 write(3</data/log>, ""..., 100) = 100 <0.000050>`);
    if (record === 4)
      lines.push(
        '2 10:00:00.014500 openat(AT_FDCWD, "/data/log", O_RDONLY) = 3</data/log> <0.000010>',
        '2 10:00:00.014600 pread64(3</data/log>, ""..., 100, 100) = 100 <0.000010>',
      );
  }
  lines.push('1 10:00:00.020000 openat(AT_FDCWD, "/data/in", O_RDONLY) = 4</data/in> <0.000010>');
  for (let piece = 0; piece < 3; piece += 1)
    lines.push(`1 10:00:00.02${piece + 1}000 read(4</data/in>, ""..., 4096) = 4096 <0.000020>`);
  return [...lines, "1 10:00:00.030000 exit_group(0) = ?", "1 10:00:00.030100 +++ exited with 0 +++", ""].join("\n");
}

function report(name, text) {
  mkdirSync(join(reports, name), { recursive: true });
  const [source, trail, page] = ["a_h_1.st", "t.trail", "t.html"].map((file) => join(reports, name, file));
  writeFileSync(source, text);
  run("import", "--force", "-o", trail, source);
  execFileSync("rm", ["-f", page]);
  run("report", trail, "-o", page);
  return { trail, page };
}

before(async () => {
  chromium = await browser();
});

after(async () => {
  await chromium?.close();
});

const cells = (page, id) =>
  page.$$eval(`${id} tbody tr`, (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent.trim())));
const tip = (page) => page.locator("#drill-file .tip").innerText();

for (const [width, theme] of [
  [1400, "light"],
  [420, "dark"],
])
  test(`a file, its accesses, and the call that keeps two apart, ${width} pixels wide`, async () => {
    const { trail, page: file } = report("log", trace());
    const { page, complaints } = await openFile(chromium, file, {
      viewport: { width, height: 900 },
      colorScheme: theme,
    });
    const [log, input] = await cells(page, "#drill-files");
    assert.deepEqual(log, ["/data/log", "300 µs", "6", "2", "7", "0", "0", "0"]);
    assert.deepEqual(input, ["/data/in", "40.0 µs", "2", "1", "2", "0", "0", "0"]);
    assert.match(await page.locator("#drill-file h3").innerText(), /^Accesses of \/data\/log$/);
    assert.match(
      await page.locator("#drill-status").innerText(),
      /^10 accesses, 2 runs that could each be one access\. Times count from the first one, which began 2\.00 ms after/,
    );
    assert.deepEqual(await page.locator("#drill-file .legend .key").allInnerTexts(), [
      "write 8",
      "openat 1",
      "pread64 1",
      "open file 1 of process 1: 9",
      "open file 2 of process 2: 1",
      "could be one access",
      "kept apart",
    ]);

    // The table has what the command line has.
    const shown = await cells(page, "#drill-file .access-rows");
    const [{ accesses }] = JSON.parse(run("advise", trail, "--accesses", "/data/log", "--json")).accesses;
    assert.equal(shown.length, accesses.length);
    const number = (value) => (value === null ? "–" : value.toLocaleString("en-US"));
    accesses.forEach((access, at) => {
      const [, call, pid, open, offset, behind, , , member] = shown[at];
      assert.deepEqual(
        [call, pid, open, offset, behind, member],
        [
          access.call,
          String(access.pid),
          number(access.open),
          number(access.offset),
          number(access.offset_after),
          access.run === null ? "–" : `${access.run}.${access.member}`,
        ],
      );
    });
    assert.deepEqual(
      shown.map((row) => row[9]),
      [
        "",
        "",
        ...Array(4).fill("1: nothing in between"),
        "",
        "2: nothing in the way",
        "1: nothing in between",
        "1: nothing in between",
      ],
    );
    const apart = "somebody else uses the bytes: pread64 of process 2 at +12.6 ms, 100 B at 100";
    assert.deepEqual(shown.map((row) => row[10]).filter(Boolean), [apart]);

    // The pointer on the last access of the run names the call and marks it.
    const picture = page.locator("#drill-file svg.chart");
    await picture.scrollIntoViewIfNeeded();
    const stopped = await page.locator("#drill-file .chart .stopped").boundingBox();
    await page.mouse.move(stopped.x - 6, stopped.y + stopped.height / 2);
    const said =
      /^write of process 1 at \+12\.0 ms, 100 B at 400\ntook 50\.0 µs, open file 1, .*\nRun 1: access 5 of 5 that could be one\nPair with the access before: category 1, nothing in between\nKept apart from the next one: somebody else uses the bytes\npread64 of process 2 at \+12\.6 ms, 100 B at 100$/;
    assert.match(await tip(page), said);
    const middle = (selector) =>
      page.locator(`#drill-file ${selector}`).evaluate((one) => ["cx", "cy"].map((at) => Number(one.getAttribute(at))));
    const [chosen, blocker] = [await middle(".chosen"), await middle(".blocker")];
    assert.ok(blocker[0] > chosen[0] && blocker[1] > chosen[1], `${blocker} is later and lower than ${chosen}`);
    await page.mouse.move(1, 1);
    assert.equal(await page.locator("#drill-file .tip").isHidden(), true);

    // Keys do the same.
    await picture.focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await tip(page), said);
    assert.equal(await page.locator("#drill-file .blocker").count(), 1);
    await page.keyboard.press("ArrowRight");
    assert.match(await tip(page), /^pread64 of process 2 at \+12\.6 ms, 100 B at 100\n[\s\S]*\nIn no run$/);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#drill-file .tip").isHidden(), true);

    // Zoom, the order of accesses, one run.
    const marks = () => page.locator("#drill-file .chart .access").count();
    assert.equal(await marks(), 10);
    await picture.press("+");
    await picture.press("+");
    assert.ok((await marks()) < 10);
    await picture.press("0");
    assert.equal(await marks(), 10);
    await page.selectOption('#drill-file select[aria-label="Show"]', "2");
    assert.equal(await marks(), 3);
    await page.selectOption('#drill-file select[aria-label="Across"]', "order");
    assert.equal(await marks(), 10);
    const across = await page
      .locator("#drill-file .chart .shape")
      .evaluateAll((all) => all.map((one) => one.getBBox().x));
    const steps = across.slice(1).map((x, at) => Math.round(x - across[at]));
    assert.ok(
      steps.every((step) => Math.abs(step - steps[0]) <= 4),
      `${steps}`,
    );

    // A row of the table is found in the picture; another file takes the place of this one.
    await page.locator("#drill-file .access-rows button.link").nth(9).click();
    assert.match(await tip(page), /^write of process 1 at \+15\.0 ms, 100 B at 700/);
    await page.locator("#drill-files button.link", { hasText: "/data/in" }).click();
    assert.match(await page.locator("#drill-file h3").innerText(), /^Accesses of \/data\/in$/);
    assert.equal(await marks(), 3);

    const text = await page.locator("#drill-root").innerHTML();
    assert.doesNotMatch(text, /NaN|undefined|Infinity/);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    assert.deepEqual(complaints, []);
    await page.close();
  });

test("what orders writes and is no access is a line at its time", async () => {
  const sync = "1 10:00:00.014500 fsync(3</data/log>) = 0 <0.000010>";
  const text = trace()
    .split("\n")
    .filter((line) => !line.startsWith("2 "))
    .flatMap((line) => (line.includes("10:00:00.015000") ? [sync, line] : [line]))
    .join("\n");
  const { page, complaints } = await openFile(chromium, report("sync", text).page);
  await page.locator("#drill-file svg.chart").focus();
  await page.keyboard.press("ArrowDown");
  assert.match(
    await tip(page),
    /\nKept apart from the next one: forced to storage in between\nfsync of process 1 at \+12\.5 ms$/,
  );
  assert.equal(await page.locator("#drill-file .to-blocker").count(), 1);
  assert.equal(await page.locator("#drill-file .blocker").count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a page without accesses says why", async () => {
  const nothing = async (name, text) => {
    const { page, complaints } = await openFile(chromium, report(name, text).page);
    const said = await page.locator("#drill-nothing").innerText();
    assert.deepEqual(complaints, []);
    await page.close();
    return said;
  };
  const start = `${START.join("\n")}\n`;
  const end = "1 10:00:00.030000 exit_group(0) = ?\n1 10:00:00.030100 +++ exited with 0 +++\n";
  const reads = [1, 2, 3].map((at) => `1 10:00:00.00${at}000 read(7</data/in>, ""..., 10) = 10 <0.000050>\n`).join("");
  assert.equal(
    await nothing("quiet", start + end),
    "No call read or wrote a file, so there are no accesses to look at.",
  );
  assert.equal(
    await nothing("unplaced", start + reads + end),
    "The trail does not have the offsets of 3 transfers from and to files, so there are no accesses to look at.",
  );
  const open = '1 10:00:00.000500 openat(AT_FDCWD, "/data/in", O_RDONLY) = 7</data/in> <0.000010>\n';
  const one = reads.slice(0, reads.indexOf("\n") + 1);
  assert.equal(await nothing("single", start + open + one + end), "No finding is about the accesses to a file.");
});
