// What a reader would see wrong on a page, measured: cells without a figure, text that is cut, text on top of text.

/** Brings everything to light that waits for a click: sheets, further rows, all pieces. */
export async function unfold(page) {
  for (const tab of await page.locator("[role=tab]").all()) await tab.click();
  await page.locator("#tab-activities").click();
  for (const button of await page.locator("#more-pieces").all()) await button.click();
  for (const button of await page.locator("button", { hasText: /^Show .* more (rows|variants?)$/ }).all())
    while (await button.isVisible()) await button.click();
}

/** Texts that are no figure, word or name: what a program writes where it has nothing. */
export function wrongCells(page) {
  return page
    .locator("td, th, dd, dt, p, li, small, figcaption, text, option, summary, span")
    .evaluateAll((all) =>
      all
        .map((one) => one.textContent)
        .filter((text) => /\bNaN\b|\bundefined\b|Infinity|\[object|\bnull\b/.test(text.replaceAll("/dev/null", ""))),
    );
}

/** Text that is cut without a way to read it, that leaves the window, or lies on other text. */
export function wrongBoxes(page) {
  return page.evaluate(() => {
    const faults = [];
    const said = (one) => `${one.text.slice(0, 40)} (${one.owner.tagName}.${one.owner.getAttribute("class") ?? ""})`;
    const ignored = "script, style, noscript, option, title, .unseen, .skip, .tip, .edge-label";
    /** The part of a box that its ancestors let through. */
    const clipped = (rect, owner) => {
      let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom];
      for (let one = owner; one && one !== document.body; one = one.parentElement) {
        const style = getComputedStyle(one);
        if (style.overflowX === "visible" && style.overflowY === "visible") continue;
        const frame = one.getBoundingClientRect();
        [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
        [top, bottom] = [Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
      }
      return { left, top, right, bottom };
    };
    const boxes = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const owner = node.parentElement;
      if (node.data.trim() === "" || owner.closest(ignored) || !owner.checkVisibility()) continue;
      if (owner.closest("header.top") && getComputedStyle(owner.closest("header.top")).position === "sticky") continue;
      range.selectNodeContents(node);
      const svg = owner.closest("svg");
      const rects = svg ? [owner.getBoundingClientRect()] : [...range.getClientRects()];
      for (const rect of rects) {
        const { left, top, right, bottom } = clipped(rect, owner);
        // The box of a line is higher than its letters.
        const slack = (bottom - top) * 0.2;
        if (right - left > 1 && bottom - top > 1)
          boxes.push({ left, top: top + slack, right, bottom: bottom - slack, text: node.data.trim(), owner });
        if (rect.right > innerWidth + 1 && !owner.closest(".scroll, svg"))
          faults.push(`leaves the window: ${said({ text: node.data.trim(), owner })}`);
      }
      const style = getComputedStyle(owner);
      const cut = !svg && style.overflowX === "hidden" && owner.scrollWidth > owner.clientWidth + 1;
      if (cut && !owner.closest("[title]")) faults.push(`cut: ${said({ text: node.data.trim(), owner })}`);
    }
    for (const owner of document.querySelectorAll("td .track")) {
      const rect = clipped(owner.getBoundingClientRect(), owner);
      if (owner.checkVisibility() && rect.right - rect.left > 1) boxes.push({ ...rect, text: "a bar", owner });
    }
    boxes.sort((a, b) => a.top - b.top);
    boxes.forEach((one, at) => {
      for (let next = at + 1; next < boxes.length && boxes[next].top < one.bottom - 1; next += 1) {
        const other = boxes[next];
        if (one.owner === other.owner) continue;
        if (Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1.5)
          faults.push(`overlap: ${said(one)} and ${said(other)}`);
      }
    });
    return [...new Set(faults)];
  });
}
