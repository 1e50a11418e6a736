// The report of a real recording, made by the program itself: eight ranks on one shared file, then on a file each.

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

test("the page of a recorded run answers, draws both groups and complains about nothing", async () => {
  const { page, complaints } = await open(chromium, "experiment");
  const text = await page.locator("body").innerText();
  assert.match(text, /1,808 calls/);
  assert.match(text, /write:\$SCRATCH\/ssf/);
  assert.match(text, /write:\$SCRATCH\/fpp/);
  assert.match(text, /Nothing is known to be missing/);
  assert.match(text, /What changed/);
  assert.deepEqual(complaints, []);
  await page.close();
});
