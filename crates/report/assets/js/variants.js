// Variants: distinct traces with the share of cases they cover, loops folded.

import { h, name, shorten, visible } from "./dom.js";
import { count, percent, plural } from "./format.js";

const CHIPS = 60;
const HUES = 12;

function chip(data, index, repeat) {
  const text = visible(data.text(index));
  return h(
    "span",
    { class: "chip", title: text, "data-hue": index % HUES },
    shorten(text, 34),
    repeat > 1 ? h("b", null, ` ×${count(repeat)}`) : null,
  );
}

/** A token is [name, times] or [[tokens], times]. */
function chips(data, tokens) {
  return tokens.map(([what, times]) =>
    Array.isArray(what)
      ? h("span", { class: "loop" }, chips(data, what), h("b", null, ` ×${count(times)}`))
      : chip(data, what, times),
  );
}

function variant(data, item, place, total, before) {
  const share = item.c / total;
  const shown = item.t.slice(0, CHIPS);
  const rest = item.t.slice(CHIPS);
  const trace = h("div", { class: "trace" }, h("span", { class: "mark" }, "●"), chips(data, shown));
  const end = item.x
    ? h("span", { class: "status" }, `… the beginning of ${plural(item.l, "activity", "activities")}`)
    : h("span", { class: "mark" }, "■");
  if (rest.length > 0) {
    const more = h(
      "button",
      { type: "button", onclick: () => more.replaceWith(...chips(data, rest)) },
      `${count(rest.length)} more`,
    );
    trace.append(more);
  }
  trace.append(end);
  return h(
    "li",
    null,
    h(
      "div",
      { class: "variant-head" },
      h("b", null, `${place + 1}.`),
      h(
        "span",
        { class: "track", "aria-hidden": "true" },
        h("span", { class: "before", style: { width: `${before * 100}%` } }),
        h("span", { class: "fill", style: { width: `${Math.max(share * 100, 0.4)}%` } }),
      ),
      h(
        "span",
        { class: "value" },
        h("b", null, plural(item.c, "case")),
        ` ${percent(share)}, together ${percent(before + share)}`,
      ),
      h("span", { class: "note" }, plural(item.l, "activity", "activities")),
    ),
    trace,
    h(
      "details",
      null,
      h("summary", null, "Cases"),
      h(
        "p",
        { class: "exact" },
        item.k.map((key, at) => [at > 0 ? ", " : "", name(data.text(key), 40)]),
        item.c > item.k.length ? ` and ${count(item.c - item.k.length)} more` : "",
      ),
    ),
  );
}

export function variants(data, root) {
  const { list, more } = data.variants;
  const total = Math.max(data.totals.cases, 1);
  const all = list.length + more.variants;
  root.append(
    h(
      "p",
      null,
      all === 1 && data.totals.cases > 1
        ? `All ${count(data.totals.cases)} cases do the same: there is one variant.`
        : `${plural(data.totals.cases, "case")} ${data.totals.cases === 1 ? "makes" : "make"} ${plural(all, "variant")}: a variant is a distinct sequence of activities. Repeated parts are folded and marked ×N.`,
    ),
  );
  let before = 0;
  const items = list.map((item, place) => {
    const element = variant(data, item, place, total, before);
    before += item.c / total;
    return element;
  });
  const first = h("ol", { class: "variants" }, items.slice(0, 5));
  root.append(first);
  if (items.length > 5) {
    const button = h(
      "button",
      {
        type: "button",
        onclick: () => {
          first.append(...items.slice(5));
          button.remove();
        },
      },
      `Show ${plural(items.length - 5, "more variant")}`,
    );
    root.append(button);
  }
  if (more.variants > 0)
    root.append(
      h(
        "p",
        { class: "status" },
        `${plural(more.variants, "more variant")} with ${plural(more.cases, "case")} (${percent(more.cases / total)}) ${more.variants === 1 ? "is" : "are"} not in this file.`,
      ),
    );
}
