// Groups of processes: their colours and their names, the same in every part of the page.

import { h, shorten, visible } from "./dom.js";
import { GROUP_COLOURS } from "./colour.js";

const NO_GROUP = "(none)";

/** The colour of a group: after the palette has been used once, its softened colours. */
export function hue(group) {
  if (group < 0) return "var(--edge)";
  const colour = GROUP_COLOURS[group % GROUP_COLOURS.length];
  return Math.floor(group / GROUP_COLOURS.length) % 2 === 0 ? colour : `color-mix(in srgb, ${colour} 48%, var(--soft))`;
}

export function groupName(data, group) {
  return group < 0 ? NO_GROUP : visible(data.text(data.workflow.groups[group]));
}

/** The number of the group of that name, -1 if there is none. */
export function groupOf(data, text) {
  return data.workflow.groups.findIndex((index) => data.text(index) === text);
}

export function dot(group) {
  return h("i", { class: "swatch", "aria-hidden": "true", style: { background: hue(group) } });
}

/** Which colour is which group. */
export function hueLegend(data, groups) {
  return groups.map((group) =>
    h("span", { class: "key" }, h("span", null, dot(group), shorten(groupName(data, group), 32))),
  );
}
