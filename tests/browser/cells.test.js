// Every cell of every table of the page against the figures of the command line.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bytes, count, duration, percent, rate } from "../../crates/report/assets/js/format.js";
import { browser, openFile } from "./harness.js";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const iotrail = process.env.IOTRAIL ?? join(root, "target/debug/iotrail");
const reports = join(here, "reports");
const example = join(root, "examples/ssf-fpp");

const run = (...words) => execFileSync(iotrail, ["-q", ...words], { encoding: "utf8", maxBuffer: 1 << 28 });
const json = (...words) => JSON.parse(run(...words));

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

    for (const key of ["activities", "paths", "files", "cases", "calls"]) await page.locator(`#tab-${key}`).click();
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
      await cells(page, "#sheet-paths .table-block"),
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
      "paths",
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
    same(await cells(page, "#sheet-files .table-block"), sums(selected, "path").map(totals), "files");
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

    const wrong = await page
      .locator("td, th, dd, dt, p, li, text, option")
      .evaluateAll((all) =>
        all.map((one) => one.textContent).filter((text) => /NaN|undefined|Infinity|\[object|\bnull\b/.test(text)),
      );
    assert.deepEqual(wrong, [], "no cell without a figure");
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
