// No text is cut or lies on other text, and no cell lacks its figure, at the widths of a screen, half a screen and a telephone.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, open } from "./harness.js";
import { unfold, wrongBoxes, wrongCells } from "./measure.js";

let chromium;
before(async () => {
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
});

for (const kind of ["experiment", "runs", "workflow", "hostile", "paper", "empty"]) {
  test(`every text of the page \`${kind}\` can be read at every width, and says something`, async () => {
    const { page, complaints } = await open(chromium, kind, { viewport: { width: 1400, height: 1000 } });
    await unfold(page);
    assert.deepEqual(await wrongCells(page), []);
    for (const width of [1400, 1000, 420]) {
      await page.setViewportSize({ width, height: 1000 });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      assert.deepEqual(await wrongBoxes(page), [], `${width} pixels`);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} pixels`);
    }
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await wrongBoxes(page), [], "dark");
    assert.deepEqual(complaints, []);
    await page.close();
  });
}
