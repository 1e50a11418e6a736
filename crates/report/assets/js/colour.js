// Palettes that readers with any common colour vision tell apart. Groups: Okabe and Ito, "Color Universal Design" (2008).
// Shades: one hue from light to dark, so lightness alone carries the order. Exclusive nodes also differ in border style.

export const GROUP_COLOURS = ["#009e73", "#d55e00", "#0072b2", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a"];
export const GROUP_DASHES = ["", "7 3", "2 3", "10 3 2 3", "1 2", "12 4", "4 4"];

const LIGHT = [
  [240, 246, 252],
  [158, 202, 225],
  [66, 146, 198],
  [8, 69, 148],
];
const DARK = [
  [30, 41, 56],
  [28, 72, 120],
  [38, 118, 184],
  [125, 190, 240],
];

function mix(a, b, share) {
  return a.map((value, place) => Math.round(value + (b[place] - value) * share));
}

function parse(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

export function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** The shade of a share between 0 and 1. */
export function shade(share, dark = isDark()) {
  const stops = dark ? DARK : LIGHT;
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return mix(stops[low], stops[low + 1], at - low);
}

/** Towards the colour of a group: 0 is the ground, 1 the full colour. */
export function groupShade(group, strength, dark = isDark()) {
  return mix(dark ? [38, 44, 54] : [250, 250, 248], parse(GROUP_COLOURS[group % GROUP_COLOURS.length]), strength);
}

/** The ground of what all groups share. */
export function neutral(dark = isDark()) {
  return dark ? [46, 52, 62] : [246, 246, 243];
}

export function css([red, green, blue]) {
  return `rgb(${red} ${green} ${blue})`;
}

/** Black or white, whichever reads better on the colour. */
export function ink(colour) {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.22 ? "#10151c" : "#ffffff";
}
