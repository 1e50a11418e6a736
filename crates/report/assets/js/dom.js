// Elements without markup: whatever comes out of a trace reaches the page as text or as an attribute value, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Characters that move a cursor, reverse a line or cannot be seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** `text` with every such character as a visible escape. */
export function visible(text) {
  return String(text).replace(UNSEEN, (c) => SHORT[c] ?? `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** `text` cut in the middle to `limit` characters; the end, where file names differ, keeps the larger share. */
export function shorten(text, limit) {
  const characters = [...text];
  if (characters.length <= limit || limit < 5) return text;
  const head = Math.floor(((limit - 1) * 2) / 5);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (limit - 1 - head)).join("")}`;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [key, setting] of Object.entries(value)) element.style.setProperty(key, setting);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(typeof child === "object" ? child : visible(child));
  }
  return element;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Lets an element go through key frames to where it is, unless its reader wants nothing to move. */
export function motion(element, frames) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  element.getAnimations().forEach((animation) => animation.cancel());
  element.animate(frames, { duration: 350, easing: "ease-in-out" });
}

export function clear(element) {
  element.replaceChildren();
  return element;
}

export function byId(id) {
  return document.getElementById(id);
}

/** A long name: its middle shortened, whole in the tooltip. */
export function name(text, limit = 60) {
  const whole = visible(text);
  const short = shorten(whole, limit);
  return h("span", { class: "name", title: short === whole ? null : whole }, short);
}

/** A choice with a visible label. */
export function choice(label, options, value, change) {
  const select = h(
    "select",
    { "aria-label": label, onchange: () => change(select.value) },
    Object.entries(options).map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return h("label", { class: "field" }, h("span", null, label), select);
}

/** Saves text as a file of that name. */
export function save(file, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: file });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
