// A table that sorts, filters and leaves as CSV.

import { clear, h, save, visible } from "./dom.js";
import { count } from "./format.js";

const STEP = 50;

function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  // A leading =, +, - or @ would be a formula to a spreadsheet: names get an apostrophe in front.
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * columns: [{ key, label, text: row => what is shown, value: row => what is sorted and exported, number: bool, title, exports: [[key, value]] of what is exported in its place }]
 * options: { rows, more, sort: key, caption, file, open: row => void }
 */
export function table(columns, options) {
  const { rows, more, caption, file, open } = options;
  let sort = { key: options.sort, descending: options.descending ?? true };
  let shown = options.step ?? STEP;
  let wanted = "";
  const body = h("tbody");
  const status = h("p", { class: "status", role: "status" });
  const further = h("button", {
    type: "button",
    onclick: () => {
      shown += 200;
      draw();
    },
  });
  const heads = new Map();
  const header = h(
    "tr",
    null,
    columns.map((column) => {
      const cell = h(
        "th",
        { scope: "col", class: column.number ? "number" : null, title: column.title },
        h("button", { type: "button", class: "sort", onclick: () => order(column) }, column.label),
      );
      heads.set(column.key, cell);
      return cell;
    }),
  );

  function order(column) {
    sort = { key: column.key, descending: sort.key === column.key ? !sort.descending : Boolean(column.number) };
    draw();
  }

  function matching() {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    const found =
      words.length === 0
        ? [...rows]
        : rows.filter((row) => {
            const text = columns
              .map((column) => (column.number ? "" : visible(column.value(row) ?? "")))
              .join(" ")
              .toLowerCase();
            return words.every((word) => text.includes(word));
          });
    const column = columns.find(({ key }) => key === sort.key);
    if (!column) return found;
    const sign = sort.descending ? -1 : 1;
    return found
      .map((row, place) => [row, place])
      .sort(([a, i], [b, j]) => {
        const [x, y] = [column.value(a), column.value(b)];
        if (x === null || x === undefined) return y === null || y === undefined ? i - j : 1;
        if (y === null || y === undefined) return -1;
        return (column.number ? x - y : x < y ? -1 : x > y ? 1 : 0) * sign || i - j;
      })
      .map(([row]) => row);
  }

  function draw() {
    const found = matching();
    clear(body).append(
      ...found.slice(0, shown).map((row) =>
        h(
          "tr",
          null,
          columns.map((column, place) => {
            const content = column.text(row);
            const cell =
              place === 0 && open
                ? h("button", { type: "button", class: "link", onclick: () => open(row) }, content)
                : content;
            return place === 0
              ? h("th", { scope: "row" }, cell)
              : h("td", { class: column.number ? "number" : null }, cell);
          }),
        ),
      ),
    );
    for (const [key, cell] of heads) {
      if (key === sort.key) cell.setAttribute("aria-sort", sort.descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    further.hidden = found.length <= shown;
    further.textContent = `Show ${count(Math.min(200, found.length - shown))} more rows`;
    status.textContent =
      `${count(Math.min(shown, found.length))} of ${count(found.length)} rows shown` +
      (found.length < rows.length ? `, ${count(rows.length - found.length)} filtered out` : "") +
      (more ? `; ${more}` : "") +
      ".";
  }

  function csv() {
    const cells = columns.flatMap((column) => column.exports ?? [[column.csv ?? column.key, column.value]]);
    return (
      [cells.map(([key]) => csvCell(key)), ...matching().map((row) => cells.map(([, value]) => csvCell(value(row))))]
        .map((line) => line.join(","))
        .join("\r\n") + "\r\n"
    );
  }

  const copy = h(
    "button",
    {
      type: "button",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(csv());
          copy.textContent = "Copied";
        } catch {
          copy.textContent = "Copying is not allowed here";
        }
        setTimeout(() => {
          copy.textContent = "Copy CSV";
        }, 2000);
      },
    },
    "Copy CSV",
  );
  const filter = h("input", {
    type: "search",
    placeholder: "Filter rows",
    "aria-label": `Filter: ${caption}`,
    oninput: () => {
      wanted = filter.value;
      draw();
    },
  });
  draw();
  return h(
    "div",
    { class: "table-block" },
    h(
      "div",
      { class: "toolbar" },
      rows.length > 5 ? filter : null,
      h("span", { class: "spring" }),
      copy,
      h("button", { type: "button", onclick: () => save(`${file}.csv`, csv(), "text/csv") }, "Download CSV"),
    ),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      h("table", null, h("caption", { class: "unseen" }, caption), h("thead", null, header), body),
    ),
    status,
    further,
  );
}
