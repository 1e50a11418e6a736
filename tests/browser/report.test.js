import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
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
const shown = (page, selector) =>
  page.locator(selector).evaluateAll((all) => all.filter((one) => one.style.display !== "none").length);
async function slide(page, selector, value) {
  await page.locator(selector).evaluate((input, to) => {
    input.value = to;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, value);
}

on("runs", "opens with the answer", async (page) => {
  const answer = await text(page, "#answer");
  assert.match(answer, /^[^\n]+\n+\d+\sms: \d+\sms .*write/, "the first line says where the time went");
  assert.match(answer, /32 runs whose processes are not related\. The slowest/);
  assert.match(answer, /32 processes with 32 threads on 2 hosts within \d+ ms/);
  assert.match(answer, /1,831 calls on 22 files, read 805 MB and wrote 2\.42 GB/);
  assert.match(answer, /Not covered: 3 lines of the trace could not be read/);
  assert.match(await text(page, "#activity-bars"), /write:\/scratch\/run\/shared with \d/);
});

on("paper", "shows the paper's graph, with the one transition that only ls takes", async (page) => {
  assert.equal(await shown(page, "#graph .node"), 7);
  const own = page.locator('#graph .edge .line[marker-end="url(#arrow-0)"]');
  assert.equal(await own.count(), 1);
  assert.match(
    await own.locator("xpath=..").getAttribute("aria-label"),
    /read:\/etc\/locale\.alias → write:\/dev\/pts: 3 times/,
  );
  assert.match(
    await page.locator('#graph .edge[aria-label^="● →"]').getAttribute("aria-label"),
    /read:\/usr\/lib: 6 times/,
  );
});

/** Moves the slider of activities to the stop that shows `count` of them. */
async function slideTo(page, count) {
  const stop = await page.locator("#data").evaluate((data, count) => {
    return JSON.parse(data.textContent).stops.list.findIndex(({ n }) => n === count);
  }, count);
  assert.ok(stop >= 0, `no stop shows ${count} activities`);
  await slide(page, "#slider-activities", String(stop));
}

/** Left, top, right and bottom of what is shown of the graph, by name. */
const drawn = (page, selector) =>
  page.locator(selector).evaluateAll((all) =>
    all
      .filter((one) => one.style.display !== "none" && getComputedStyle(one).display !== "none")
      .map((one) => {
        const { left, top, right, bottom } = one.getBoundingClientRect();
        return [one.textContent.slice(0, 60), left, top, right, bottom];
      }),
  );

on("runs", "sliders snap to stops, each with a layout of its own that says what is hidden", async (page) => {
  const places = () =>
    page.locator("#graph .node").evaluateAll((all) => all.map((one) => one.getAttribute("transform")));
  const before = await places();
  assert.match(await text(page, "#graph-status"), /The whole graph: 17 activities/);
  await slide(page, "#slider-transitions", "0");
  assert.ok((await shown(page, "#graph .edge")) < 28, "weak transitions are hidden");
  assert.ok((await shown(page, "#graph .edge")) >= 17, "the strongest ways in and out stay");
  await slideTo(page, 3);
  assert.equal(await shown(page, "#graph .node"), 3);
  assert.match(await text(page, "#graph-status"), /Shown: 3 of 17 activities with .* of the time.*Hidden: /);
  assert.equal(await page.locator("#slider-activities").getAttribute("aria-valuetext"), "3 of 17 activities");
  await slide(page, "#slider-transitions", "9");
  await slideTo(page, 17);
  assert.deepEqual(await places(), before, "the whole graph is as it was");
});

on("runs", "at every stop nothing lies on anything else, and each activity has neighbours", async (page) => {
  const list = await page.locator("#data").evaluate((data) => JSON.parse(data.textContent).stops.list);
  assert.ok(list.length > 5 && list.length <= 12, `${list.length} stops`);
  for (const [stop, { n, levels }] of list.entries()) {
    await slide(page, "#slider-activities", String(stop));
    for (const level of levels.keys()) {
      await slide(page, "#slider-transitions", String(level));
      const boxes = await drawn(page, "#graph .node, #graph .terminal");
      assert.equal(boxes.length, n + 2);
      const labels = await drawn(page, "#graph .edge-label");
      for (const [at, [name, left, top, right, bottom]] of boxes.entries())
        for (const [other, ...box] of [...boxes.slice(at + 1), ...labels])
          assert.ok(
            right <= box[0] + 1 || box[2] <= left + 1 || bottom <= box[1] + 1 || box[3] <= top + 1,
            `${name} and ${other} at ${n}, ${level}`,
          );
      const ends = levels[level].edges.length + levels[level].ways.length;
      assert.equal((await shown(page, "#graph .edge")) + (await shown(page, "#graph .projected")), ends);
      assert.ok(ends > n);
    }
  }
});

test("another stop is reached by a movement, but for a reader who wants none", async () => {
  for (const [reducedMotion, moving] of [
    ["no-preference", true],
    ["reduce", false],
  ]) {
    const { page } = await open(chromium, "runs", { reducedMotion });
    await slideTo(page, 4);
    const running = () =>
      page.evaluate(() => document.getElementById("graph-canvas").getAnimations({ subtree: true }).length);
    assert.equal((await running()) > 4, moving, reducedMotion);
    await page.waitForFunction(
      () => document.getElementById("graph-canvas").getAnimations({ subtree: true }).length === 0,
    );
    await page.close();
  }
});

for (const width of [1400, 420])
  test(`the graph opens with its heaviest activity in the middle, at a size that can be read, ${width} pixels wide`, async () => {
    const { page } = await open(chromium, "large", { viewport: { width, height: 900 } });
    const { box, canvas, size, scale } = await page.evaluate(() => {
      const data = JSON.parse(document.getElementById("data").textContent);
      const most = data.nodes.reduce((best, node, index) => (node.t > data.nodes[best].t ? index : best), 0);
      const node = document.querySelector(`#graph-canvas .node[data-node="${most}"]`);
      const rect = (one) => one.getBoundingClientRect().toJSON();
      const title = node.querySelector(".title");
      return {
        box: rect(node),
        canvas: rect(document.getElementById("graph-canvas")),
        size: parseFloat(getComputedStyle(title).fontSize),
        scale: title.getScreenCTM().a,
      };
    });
    assert.ok(size * scale >= 12, `${size * scale} pixels`);
    const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
    const [a, b] = [middle(box), middle(canvas)];
    assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) < 3, `${a} and ${b}`);
    await page.close();
  });

on("runs", "clicking a node shows its figures, human and exact", async (page) => {
  await page.locator("#graph .node").first().click();
  const panel = await text(page, "#panel");
  assert.match(panel, /write:\/scratch\/run\/shared/);
  assert.match(panel, /1,207,959,552 B/);
  for (const part of [
    "In each group",
    "Duration of an event",
    "Size of an event",
    "Files by time",
    "Cases by time",
    "Slowest events",
  ])
    assert.ok(panel.includes(part), part);
  assert.match(panel, /pid 90\d\d/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#panel").isHidden(), true);
});

on("runs", "clicking a transition shows its gaps", async (page) => {
  const place = await page
    .locator("#graph .edge .line")
    .nth(2)
    .evaluate((path) => {
      const point = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
      return [point.x, point.y];
    });
  await page.evaluate(() => document.querySelector("#graph-canvas").scrollIntoView({ block: "center" }));
  const moved = await page
    .locator("#graph .edge .line")
    .nth(2)
    .evaluate((path) => {
      const point = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
      return [point.x, point.y];
    });
  assert.notDeepEqual(place, undefined);
  await page.mouse.click(...moved);
  assert.match(await text(page, "#panel"), /Transition[\s\S]*→[\s\S]*Mean gap[\s\S]*ns/);
});

on("runs", "search marks matches and Enter jumps to one that a slider hides", async (page) => {
  await slideTo(page, 3);
  await page.fill("#graph-search", "etc/ior");
  assert.equal(await page.locator("#graph .node.match").count(), 1);
  await page.press("#graph-search", "Enter");
  assert.match(await text(page, "#panel h3"), /openat:\/etc\/ior/);
  assert.equal(await page.locator("#graph .node.match").isVisible(), true);
});

on("runs", "the graph can be used with the keyboard alone", async (page) => {
  await page.locator("#graph-canvas").focus();
  await page.keyboard.press("ArrowDown");
  const first = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await page.keyboard.press("ArrowDown");
  const second = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.ok(first && second && first !== second);
  await page.keyboard.press("Enter");
  assert.ok(second.startsWith(await text(page, "#panel h3")));
  const scale = () => page.locator("#graph .world").getAttribute("transform");
  const before = await scale();
  await page.keyboard.press("+");
  assert.notEqual(await scale(), before);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#panel").isHidden(), true);
});

on("runs", "wheel zooms and dragging pans", async (page) => {
  const world = page.locator("#graph .world");
  await page.evaluate(() => document.querySelector("#graph-canvas").scrollIntoView({ block: "center" }));
  const frame = await page.locator("#graph-canvas").boundingBox();
  const [x, y] = [frame.x + 40, frame.y + 200];
  const before = await world.getAttribute("transform");
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -240);
  await page.waitForFunction(
    (old) => document.querySelector("#graph .world").getAttribute("transform") !== old,
    before,
  );
  const zoomed = await world.getAttribute("transform");
  await page.mouse.down();
  await page.mouse.move(x + 90, y + 30, { steps: 4 });
  await page.mouse.up();
  assert.notEqual(await world.getAttribute("transform"), zoomed);
});

on("runs", "measures and colours change what is shown", async (page) => {
  const label = () => page.locator("#graph .edge-label").first().textContent();
  const count = await label();
  await page.getByLabel("Transitions show").selectOption("mean");
  assert.notEqual(await page.locator("#graph .edge-label").nth(3).textContent(), count);
  const legend = await text(page, "#graph .legend");
  await page.getByLabel("Colour", { exact: true }).selectOption("bytes");
  assert.notEqual(await text(page, "#graph .legend"), legend);
  assert.match(await text(page, "#graph .legend"), /Node colour: bytes/);
});

on("runs", "tables sort, filter and leave as CSV", async (page) => {
  const first = () => page.locator("#sheet-activities tbody th").first().innerText();
  assert.match(await first(), /write:\/scratch\/run\/shared/);
  await page.locator("#sheet-activities thead button", { hasText: "Activity" }).click();
  assert.equal(await page.locator("#sheet-activities th[aria-sort=ascending]").count(), 1);
  assert.match(await first(), /^close:/);
  await page.getByLabel("Filter: Activities").fill("fsync files");
  assert.equal(await page.locator("#sheet-activities tbody tr").count(), 1);
  assert.match(await text(page, "#sheet-activities .status"), /1 of 1 rows shown, 16 filtered out/);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#sheet-activities button", { hasText: "Download CSV" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "activities.csv");
  const csv = readFileSync(await download.path(), "utf8");
  assert.match(csv, /^activity,count,relative_duration,duration_ns/);
  assert.match(csv, /\r\nfsync:\/scratch\/run\/files,48,/);
});

on("runs", "a file opens its drawer: sizes, errors, first and last, accesses over time and offset", async (page) => {
  const rows = page.locator("#files-root tbody tr");
  assert.match(await rows.first().innerText(), /\/scratch\/run\/shared\/out\.dat/);
  await rows.first().locator("button").click();
  const panel = await text(page, "#file-panel");
  for (const part of ["I/O time", "Sequential", "First call", "Reads", "Writes", "Requests by size"])
    assert.ok(panel.includes(part), part);
  assert.match(panel, /Where in the file the accesses began is unknown/);
  await page.keyboard.press("Escape");
  await page.locator("#files-root thead button", { hasText: "Written" }).click();
  assert.equal(await page.locator("#files-root th[aria-sort=descending]").innerText(), "Written ↓".slice(0, 7));
});

on("runs", "tabs go with arrow keys", async (page) => {
  await page.locator("#tab-activities").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#tab-transitions").getAttribute("aria-selected"), "true");
  assert.equal(await page.locator("#sheet-transitions").isVisible(), true);
});

on("runs", "the timeline draws one bar for each event and zooms", async (page) => {
  assert.match(
    await text(page, "#timeline-status"),
    /One bar for each of the 288 events\. 16 cases in 16 rows\. At most 16 in flight at once/,
  );
  const painted = () =>
    page
      .locator("#timeline-canvas")
      .evaluate((canvas) => new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size);
  assert.ok((await painted()) > 10);
  const before = await text(page, "#timeline-status");
  await page.locator("#timeline-canvas").focus();
  await page.keyboard.press("+");
  assert.notEqual(await text(page, "#timeline-status"), before);
  await page.keyboard.press("0");
  assert.equal(await text(page, "#timeline-status"), before);
  await page.locator("#timeline-activity").selectOption({ index: 2 });
  assert.match(await text(page, "#timeline-status"), /48 events/);
});

on("runs", "the comparison lists changes by time at stake and opens them in the graph", async (page) => {
  const rows = page.locator("#comparison-root .table-block tbody tr");
  assert.match(await rows.first().innerText(), /write:\/scratch\/run\/shared[\s\S]*new[\s\S]*\+1\.\d+ s/);
  assert.match(
    await text(page, "#comparison-root"),
    /A permutation test over \d+ against \d+ ranks[\s\S]*stands, p <0\.001/,
  );
  await rows.nth(1).locator("button").click();
  assert.match(await text(page, "#panel h3"), /write:\/scratch\/run\/files/);
});

on(
  "runs",
  "dark mode follows the system and the switch",
  async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await ground(), "rgb(18, 22, 28)");
    const node = () =>
      page
        .locator("#graph .node rect")
        .first()
        .evaluate((rect) => rect.style.fill);
    const dark = await node();
    await page.locator("#theme").click();
    assert.equal(await ground(), "rgb(255, 255, 255)");
    assert.notEqual(await node(), dark);
  },
  { colorScheme: "dark" },
);

on("runs", "prints the graph and every table, without controls", async (page) => {
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  for (const sheet of ["activities", "transitions", "cases", "calls"])
    assert.equal(await page.locator(`#sheet-${sheet} table`).isVisible(), true, sheet);
  assert.equal(await page.locator("#slider-activities").isVisible(), false);
  assert.ok(await page.locator("#graph-canvas").getAttribute("viewBox"));
  assert.ok((await page.pdf()).length > 20_000);
});

for (const [width, kind] of [
  [360, "runs"],
  [360, "hostile"],
  [2560, "runs"],
]) {
  on(
    kind,
    `nothing sticks out at ${width} pixels (${kind})`,
    async (page) => {
      const beyond = await page.evaluate(
        (limit) =>
          [...document.querySelectorAll("main *")]
            .filter((one) => one.getBoundingClientRect().right > limit && !one.closest(".scroll, svg"))
            .map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 60)}`),
        width,
      );
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, beyond.join("\n"));
      await page.locator(".bars button").first().click();
      assert.equal(await page.locator("#panel").isVisible(), true);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    },
    { viewport: { width, height: 900 } },
  );
}

on("runs", "labels of nodes stay within their boxes and boxes do not overlap", async (page) => {
  const wide = await page
    .locator("#graph .node")
    .evaluateAll((nodes) =>
      nodes
        .filter((node) =>
          [...node.querySelectorAll("text")].some(
            (one) => one.getBBox().width > node.querySelector("rect").getBBox().width,
          ),
        )
        .map((node) => node.textContent),
    );
  assert.deepEqual(wide, []);
  const boxes = await page
    .locator("#graph .node rect")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  for (const [i, a] of boxes.entries())
    for (const b of boxes.slice(i + 1))
      assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top);
});

on("hostile", "hostile names are inert and shown with visible escapes", async (page) => {
  for (const node of await page.locator("#graph .node").all()) await node.dispatchEvent("click");
  for (const tab of ["transitions", "cases", "calls"]) await page.locator(`#tab-${tab}`).click();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("script").count(), 2);
  assert.equal(await page.locator("main img, main b script, main i script").count(), 0);
  const body = await page.evaluate(() => document.body.innerText + document.title);
  assert.ok(
    body.includes("<script>window.hacked=1</script>") && body.includes("\\u{202e}") && body.includes("line\\nbreak"),
  );
  const everything = await page.evaluate(() =>
    [...document.querySelectorAll("body *:not(script):not(style)")]
      .flatMap((one) => [
        ...[...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
        ...one.getAttributeNames().map((name) => one.getAttribute(name)),
      ])
      .join(" "),
  );
  assert.equal(/[\u001b\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(everything), false);
});

on("hostile", "a recording says what was recorded, what not and at which cost", async (page) => {
  const text = await page.locator("#coverage").innerText();
  assert.match(text, /Recorded: all 256 calls of set io\. Not recorded: memory\./);
  assert.match(text, /a traced call takes 26\.0 µs longer, at least 11\.0 µs of it within its duration/);
  assert.match(text, /3 files memory-mapped \(accesses through memory not visible\)/);
  assert.match(
    text,
    /1 program run without gaining privileges \(\/bin\/<script>window\.hacked=9<\/script>\\u\{1b\}\[31m\)/,
  );
});

on("hostile", "a name cannot become a formula in a spreadsheet", async (page) => {
  await page.locator("#tab-cases").click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#sheet-cases button", { hasText: "Download CSV" }).click(),
  ]);
  assert.equal(/(^|,|\n)"?[=+@]/.test(readFileSync(await download.path(), "utf8")), false);
});

on("empty", "an empty log gives a page that says so", async (page) => {
  assert.match(await text(page, "#summary"), /0 calls/);
  assert.match(await text(page, "#timeline-root"), /no event to draw/);
});

test("a report of 1.2 million events stays below 1.2 MB and says what its bars stand for", async () => {
  assert.ok(size(sample("large")) <= 1_200_000, `${size(sample("large"))} bytes`);
  const { page, complaints } = await open(chromium, "large");
  assert.match(await text(page, "#summary"), /1,200,000 calls/);
  assert.match(await text(page, "#timeline-status"), /events are too many for a bar each/);
  assert.equal(
    await page.locator("#variants, nav a[href='#variants']").count(),
    0,
    "each case is a variant of its own",
  );
  await slide(page, "#slider-activities", "0");
  assert.match(await text(page, "#graph-status"), /Hidden: /);
  assert.deepEqual(complaints, []);
});

test("the same log gives the same bytes", () => {
  const before = readFileSync(sample("paper"), "utf8");
  assert.equal(before.includes("data-ready"), false);
  assert.ok(before.includes("default-src 'none'") && !before.includes("unsafe-inline"));
});

on("runs", "long figures of the phases stay in their cells", async (page) => {
  const outside = await page.evaluate(() => {
    const values = [...document.querySelectorAll(".phase-table .modes + .value")];
    values.forEach((one) => {
      one.textContent = [12_345, 1_234_567, 1_045, 23_457].map((n) => n.toLocaleString("en")).join("\u00a0· ");
    });
    const right = (one) => one.getBoundingClientRect().right;
    return [values.length, values.filter((one) => right(one) > right(one.closest("td")) + 1).length];
  });
  assert.ok(outside[0] > 0);
  assert.equal(outside[1], 0);
});
