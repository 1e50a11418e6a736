// The report of a structure: its loops, what is drawn, who sends to whom.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, open } from "./harness.js";

let chromium;
before(async () => {
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
});

test("the page of a structure has its loops, what is drawn with its error, and the matrix", async () => {
  const { page, complaints } = await open(chromium, "structure");
  const section = page.locator("#loops");
  const text = await section.innerText();
  assert.match(text, /Precision 60 %: .* within 40 % of the middle of their cluster/);
  assert.match(text, /200 × loop/);
  assert.match(text, /MPI_Alltoall/);
  assert.match(text, /between 4 ranks of MPI_COMM_WORLD/);
  assert.ok((await section.locator("abbr.drawn").count()) > 0);
  const errors = (await section.locator("figcaption").allInnerTexts()).map((one) => /within ([\d.]+) %/.exec(one)?.[1]);
  assert.ok(errors.length > 0);
  for (const error of errors) assert.ok(Number(error) <= 40, String(error));
  assert.equal(await section.locator("svg.matrix rect.cell").count(), 16);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("the page of a trail has no section of loops", async () => {
  const { page } = await open(chromium, "experiment");
  assert.equal(await page.locator("#loops").count(), 0);
  assert.equal(await page.locator('nav a[href="#loops"]').count(), 0);
  await page.close();
});
