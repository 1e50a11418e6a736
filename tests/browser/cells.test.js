// Every cell of every table of the page against the figures of the command line.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bytes, count, duration, percent, rate } from "../../crates/report/assets/js/format.js";
import { browser, openFile } from "./harness.js";
import { unfold, wrongCells } from "./measure.js";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const iotrail = process.env.IOTRAIL ?? join(root, "target/debug/iotrail");
const reports = join(here, "reports");
const example = join(root, "examples/ssf-fpp");

const run = (...words) => execFileSync(iotrail, ["-q", ...words], { encoding: "utf8", maxBuffer: 1 << 28 });
const json = (...words) => JSON.parse(run(...words));
const lines = (...words) =>
  run(...words)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Rows of a CSV without quotes in the columns that are used. */
function csv(text) {
  const [head, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));
  return lines.map((cells) => Object.fromEntries(head.map((key, at) => [key, cells[at]])));
}

/** A trace without durations, as strace writes it without -T. */
const WITHOUT_TIMES = `7  10:00:00.000100 openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3</etc/passwd>
7  10:00:00.000300 read(3</etc/passwd>, "root"..., 4096) = 1000
7  10:00:00.000400 read(3</etc/passwd>, "", 4096) = 0
7  10:00:00.000500 openat(AT_FDCWD, "/etc/none", O_RDONLY) = -1 ENOENT (No such file or directory)
7  10:00:00.000600 close(3</etc/passwd>) = 0
7  10:00:00.000700 +++ exited with 0 +++
`;

const LOGS = {
  "a recorded experiment": {
    trail: () => {
      const trail = join(reports, "cells.trail");
      run("import", "--force", "-o", trail, join(example, "traces"));
      return trail;
    },
    query: ["--map", join(example, "same-file.toml"), "--by", "cid"],
    compared: ["fpp", "ssf"],
  },
  "a trace without durations": {
    trail: () => {
      const trace = join(reports, "a_h_1.st");
      writeFileSync(trace, WITHOUT_TIMES);
      const trail = join(reports, "untimed.trail");
      run("import", "--force", "-o", trail, trace);
      return trail;
    },
    query: [],
  },
};

let chromium;
before(async () => {
  mkdirSync(reports, { recursive: true });
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
});

/** The shown cells of a table, by the whole text of the first one; every row is brought to light first. */
async function cells(page, block) {
  const more = page.locator(`${block} > button`, { hasText: "more rows" });
  while (await more.isVisible()) await more.click();
  return page
    .locator(`${block} tbody tr`)
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.children].map((cell) =>
          [...cell.querySelectorAll("[title]")].reduce(
            (text, one) => text.replace(one.textContent, one.getAttribute("title")),
            cell.textContent,
          ),
        ),
      ),
    );
}

/** Rows of a table as objects, by the text of their headings. */
async function records(page, block) {
  const heads = await page.locator(`${block} thead th`).allInnerTexts();
  const rows = await cells(page, block);
  return rows.map((row) => Object.fromEntries(heads.map((head, at) => [head, row[at]])));
}

/** Every file that the page shows has the figures of `iotrail files`, and what has figures is shown. */
async function sameFiles(page, files) {
  const sum = (a, b) => (a === null && b === null ? null : (a ?? 0) + (b ?? 0));
  const share = ({ sequential, random }) => (sequential + random > 0 ? sequential / (sequential + random) : null);
  const shown = await records(page, "#files-root .table-block");
  assert.equal(shown.length, Math.min(files.length, 200));
  const figures = {
    "I/O time": (file) => duration(file.io_ns),
    Syncing: (file) => duration(file.sync_ns),
    Waiting: (file) => duration(file.wait_ns),
    Read: (file) => bytes(file.bytes_read),
    Written: (file) => bytes(file.bytes_written),
    Reads: (file) => count(file.reads),
    Writes: (file) => count(file.writes),
    Request: (file) => bytes(file.common_size),
    Sequential: (file) => percent(share(file)),
    Again: (file) => bytes(sum(file.reread, file.overwritten)),
    Calls: (file) => count(file.calls),
    Opens: (file) => count(file.opens),
    Failed: (file) => count(file.failures),
    Processes: (file) => count(file.processes),
    Ranks: (file) => count(file.ranks),
    Files: (file) => count(file.files),
  };
  shown.forEach((row, at) => {
    assert.equal(row.File, files[at].path, `file ${at}`);
    for (const [head, text] of Object.entries(row))
      if (head !== "File") assert.equal(text, figures[head](files[at]), `${head} of ${files[at].path}`);
  });
  for (const head of ["Read", "Written", "Failed"].filter((one) => !(one in shown[0])))
    assert.ok(
      files.every((file) => /^(0 B|0)$/.test(figures[head](file))),
      `${head} is left out`,
    );
}

/** The answer, its pieces and who waited for whom, as `iotrail why` has them. */
async function sameAnswer(page, { runs, advice }) {
  const [run] = runs;
  const stakes = await page.locator("#foremost li").evaluateAll((all) => all.map((one) => one.innerText.split("\n")));
  assert.deepEqual(
    stakes,
    advice.map((change) => [duration(change.at_stake_ns), percent(change.share), change.title, change.fix]),
  );
  await page
    .locator("#more-pieces")
    .click({ timeout: 1000 })
    .catch(() => {});
  const pieces = await page.locator(".pieces li").evaluateAll((all) => all.map((one) => one.innerText.split("\n")));
  assert.ok((await page.locator(".headline").innerText()).startsWith(duration(run.elapsed_ns).replace(" ", "\u00a0")));
  assert.ok(pieces.length >= Math.min(run.pieces.length, 60));
  run.pieces.slice(0, 60).forEach((piece, at) => {
    assert.deepEqual(
      pieces[at].slice(0, 2),
      [duration(piece.time_ns), percent(piece.time_ns / run.elapsed_ns)],
      `piece ${at}`,
    );
  });
  if (run.waits.length === 0) return;
  const time = ({ number, time_ns: nanos }) => (number > 0 ? duration(nanos) : "–");
  const number = (wait) => (wait.number > 0 ? count(wait.number) : "–");
  same(
    (await cells(page, "#waits-root .table-block")).map(([waiter, , ...rest]) => [waiter, ...rest]),
    run.waits
      .slice(0, 60)
      .map((row) => [row.waiter, time(row.on_path), number(row.on_path), time(row.in_all), number(row.in_all)]),
    "waits",
  );
}

/** What to change, as `iotrail advise` has it. */
async function sameAdvice(page, { findings, habits }) {
  const shown = await page
    .locator(".finding summary")
    .evaluateAll((all) => all.map((one) => one.innerText.split("\n").slice(0, 2)));
  const expected = [...findings, ...habits].map(({ at_stake_ns: time, share }) => [
    time === null ? "unknown" : time > 0 ? duration(time) : "none",
    time > 0 && share !== null ? percent(share) : "",
  ]);
  assert.equal(shown.length, Math.min(expected.length, 20));
  const stakes = (rows) => rows.map((row) => row.join(" ").trim()).sort();
  if (expected.length <= 20)
    assert.deepEqual(stakes(shown.map(([time, part]) => [time, part?.endsWith("%") ? part : ""])), stakes(expected));
}

/** The groups of processes, as `iotrail stats` has them. */
async function sameGroups(page, { phases }) {
  const shown = await records(page, "#phases-root .table-block");
  assert.deepEqual(
    shown.map((row) => [row.Group, row.Processes, row.Read, row.Written, row["Time in calls"]]).sort(),
    phases
      .map((row) => [
        row.group,
        count(row.jobs),
        bytes(row.bytes_read),
        bytes(row.bytes_written),
        row.call_ns === null ? "unknown" : duration(row.call_ns),
      ])
      .sort(),
  );
}

const same = (found, expected, what) => {
  const sorted = (rows) => rows.map((row) => row.join(" | ")).sort();
  assert.ok(expected.length > 0, `${what}: rows are expected`);
  assert.deepEqual(sorted(found), sorted(expected), what);
};

/** Sums of events by a column. */
function sums(events, key) {
  const groups = new Map();
  for (const event of events) if (event[key] !== "") groups.set(event[key], [...(groups.get(event[key]) ?? []), event]);
  return [...groups].map(([name, rows]) => {
    const timed = rows.filter(({ dur }) => dur !== "");
    const total = (list, of) => list.reduce((sum, row) => sum + Number(of(row) || 0), 0);
    const moved = (verb) =>
      total(
        rows.filter(({ call }) => call.includes(verb)),
        ({ size }) => size,
      );
    return {
      name,
      count: rows.length,
      failed: rows.filter(({ errno }) => errno !== "").length,
      time: timed.length > 0 ? total(timed, ({ dur }) => dur) : null,
      read: moved("read"),
      written: moved("write"),
    };
  });
}

for (const [name, { trail: make, query, compared }] of Object.entries(LOGS)) {
  test(`the page of ${name} shows the figures of the command line, cell by cell`, async () => {
    const trail = make();
    const report = trail.replace(".trail", ".html");
    run("report", trail, ...query, "-o", report);
    const { page, complaints } = await openFile(chromium, report);
    const graph = json("dfg", trail, ...query, "--format", "json");

    for (const key of ["activities", "transitions", "cases", "calls"]) await page.locator(`#tab-${key}`).click();
    same(
      await cells(page, "#sheet-activities .table-block"),
      graph.nodes.map((node) => [
        node.activity,
        count(node.count),
        percent(node.relative_duration),
        duration(node.duration_ns),
        bytes(node.bytes),
        rate(node.data_rate),
        count(node.max_concurrency),
        count(node.cases),
        count(node.files),
        count(node.failures),
        duration(node.duration.p50),
        duration(node.duration.p95),
        duration(node.duration.max),
      ]),
      "activities",
    );
    same(
      await cells(page, "#sheet-transitions .table-block"),
      graph.edges.map((edge) => [
        edge.from,
        edge.to,
        count(edge.count),
        count(edge.cases),
        duration(rounded(edge.gap_ns.mean)),
        duration(edge.gap_ns.p50),
        duration(edge.gap_ns.p95),
        duration(edge.gap_ns.sum),
      ]),
      "transitions",
    );

    const selected = csv(run("events", trail, "--csv"));
    const totals = ({ name: title, count: number, failed, time, read, written }) => [
      title,
      count(number),
      count(failed),
      duration(time),
      bytes(read),
      bytes(written),
      bytes(0),
    ];
    await sameFiles(page, lines("files", trail, "--json"));
    await sameAnswer(page, json("why", trail, "--json").trails[0]);
    await sameAdvice(page, json("advise", trail, "--json"));
    await sameGroups(page, json("stats", trail, "--json"));
    same(
      await cells(page, "#sheet-calls .table-block"),
      sums(selected, "call").map((row) => [...totals(row), duration(row.time === null ? null : row.time / row.count)]),
      "calls",
    );
    for (const [call, { count: number, total_ns: time, failures }] of json("stats", trail, "--json").calls.map(
      (row) => [row.call, row],
    )) {
      const own = sums(selected, "call").find((row) => row.name === call);
      assert.deepEqual([own.count, own.failed, own.time], [number, failures, time], `calls of stats: ${call}`);
    }
    const shown = await cells(page, "#sheet-cases .table-block");
    assert.equal(shown.length, graph.cases);
    const ofCases = sums(
      selected.map((event) => ({ ...event, one: "all" })),
      "one",
    )[0];
    assert.equal(
      shown.reduce((sum, row) => sum + Number(row[compared ? 2 : 1].replaceAll(",", "")), 0),
      ofCases.count,
      "cases hold every event",
    );

    if (compared) {
      const comparison = json("compare", trail, ...query, "--groups", compared.join(","), "--phases", "none", "--json");
      const seen = new Set();
      const causes = comparison.changes.filter(
        ({ activity, to }) => !seen.has(`${activity}→${to}`) && seen.add(`${activity}→${to}`),
      );
      const found = await cells(page, "#comparison-root .table-block");
      assert.equal(found.length, causes.length);
      const show = {
        duration_ns: duration,
        gap_ns: duration,
        bytes,
        count: (value) => (Number.isInteger(value) ? count(value) : value.toFixed(2)),
      };
      causes.forEach((change, at) => {
        const what = change.activity + (change.to === null ? "" : ` → ${change.to}`);
        assert.equal(found[at][0], what, `the order of changes, row ${at}`);
        assert.equal(found[at][3], show[change.measure](Math.round(change.value_a * 1000) / 1000), what);
        assert.equal(found[at][4], show[change.measure](Math.round(change.value_b * 1000) / 1000), what);
        assert.match(
          found[at][8],
          change.significant === null ? /^not tested$/ : change.significant ? /^stands, p / : /^may be, p /,
          what,
        );
      });
    }

    await unfold(page);
    assert.deepEqual(await wrongCells(page), [], "no cell without a figure");
    if (graph.duration_ns === null) {
      const text = await page.locator("body").innerText();
      assert.match(text, /How long the calls took is unknown/);
      assert.equal(/Time in calls\s+0 s/.test(text), false, "unknown is not zero");
    }
    assert.deepEqual(complaints, []);
    await page.close();
  });
}

/** The page holds means to a tenth. */
function rounded(value) {
  return value === null ? null : Math.round(value * 10) / 10;
}
