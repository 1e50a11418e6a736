// A drawing that pans, zooms and is walked with keys. What is drawn is the business of the classes on top of it.

import { h } from "./dom.js";

/**
 * A class on top of it has `canvas` (an svg element), `world` (its only group), `choose(what)`, `extent()` (left, top, width, height of what
 * is shown) and `items()`: a list of { id, box, element } of what the keys go to, where `data-node` of the element is the id.
 */
export class Stage {
  button(text, label, action) {
    return h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
  }

  zoomButtons() {
    return h(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      this.button("+", "Zoom in", () => this.zoom(1.3)),
      this.button("−", "Zoom out", () => this.zoom(1 / 1.3)),
      this.button("⤢", "Fit the graph into the window", () => this.fit()),
    );
  }

  /** Keeps what was in the middle in the middle. */
  resized() {
    const { clientWidth, clientHeight } = this.canvas;
    if (clientWidth === 0 || !this.size) return;
    this.view.x += (clientWidth - this.size[0]) / 2;
    this.view.y += (clientHeight - this.size[1]) / 2;
    this.size = [clientWidth, clientHeight];
    this.transform();
  }

  transform() {
    if (!this.view) return;
    const { x, y, k } = this.view;
    this.world.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(4)})`);
    this.canvas.classList.toggle("far", k < 0.45);
  }

  fit() {
    const [x, y, width, height] = this.extent();
    const { clientWidth, clientHeight } = this.canvas;
    const scale = Math.min(clientWidth / width, clientHeight / height, 1.4);
    const k = Math.max(scale, 0.02);
    this.view = { k, x: (clientWidth - width * k) / 2 - x * k, y: (clientHeight - height * k) / 2 - y * k };
    this.transform();
  }

  zoom(factor, at) {
    const { clientWidth, clientHeight } = this.canvas;
    const [px, py] = at ?? [clientWidth / 2, clientHeight / 2];
    const k = Math.min(Math.max(this.view.k * factor, 0.02), 6);
    const real = k / this.view.k;
    this.view = { k, x: px - (px - this.view.x) * real, y: py - (py - this.view.y) * real };
    this.transform();
  }

  /** Drag pans, wheel and two fingers zoom. */
  pointer() {
    const { canvas } = this;
    const fingers = new Map();
    let moved = 0;
    const place = (event) => {
      const frame = canvas.getBoundingClientRect();
      return [event.clientX - frame.left, event.clientY - frame.top];
    };
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * 0.0022), place(event));
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      fingers.set(event.pointerId, place(event));
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) return;
      const [before, now] = [fingers.get(event.pointerId), place(event)];
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (moved > 4 && !canvas.hasPointerCapture(event.pointerId)) canvas.setPointerCapture(event.pointerId);
      if (fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const spread = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
        this.zoom(spread(now) / Math.max(spread(before), 1), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
      } else if (moved > 4) {
        this.view.x += now[0] - before[0];
        this.view.y += now[1] - before[1];
        this.transform();
      }
      fingers.set(event.pointerId, now);
    });
    for (const kind of ["pointerup", "pointercancel"])
      canvas.addEventListener(kind, (event) => fingers.delete(event.pointerId));
    canvas.addEventListener(
      "click",
      (event) => {
        if (moved > 4) {
          event.stopPropagation();
          moved = 0;
        }
      },
      true,
    );
  }

  key(event) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const step = steps[event.key];
    if (step && event.shiftKey) {
      this.view.x -= step[0] * 60;
      this.view.y -= step[1] * 60;
      this.transform();
    } else if (step) this.focusNear(step);
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.choose(null);
    else if (event.key === "Enter" || event.key === " ") {
      const node = document.activeElement?.dataset?.node;
      if (node === undefined) this.focusNear([0, 0]);
      else this.press(node, event.key);
    } else return;
    event.preventDefault();
  }

  /** Moves the focus to the nearest shown node in a direction; the first one if none has it. */
  focusNear([dx, dy]) {
    const items = this.items();
    if (items.length === 0) return;
    const at = items.find(({ id }) => String(id) === document.activeElement?.dataset?.node);
    const centre = ({ box: [x, y, width, height] }) => [x + width / 2, y + height / 2];
    let next = items[0];
    if (at) {
      const [cx, cy] = centre(at);
      const cost = (item) => {
        const [x, y] = centre(item);
        const along = (x - cx) * dx + (y - cy) * dy;
        const across = Math.abs((x - cx) * dy) + Math.abs((y - cy) * dx);
        return along > 1 ? along + across * 2 : Infinity;
      };
      next = items.reduce((best, item) => (cost(item) < cost(best) ? item : best), at);
    }
    next.element.focus({ preventScroll: true });
    this.keepInView(next.box);
  }

  keepInView([x, y, width, height]) {
    const { clientWidth, clientHeight } = this.canvas;
    const { k } = this.view;
    const [left, top] = [x * k + this.view.x, y * k + this.view.y];
    if (left < 0 || left + width * k > clientWidth) this.view.x += clientWidth / 2 - (left + (width * k) / 2);
    if (top < 0 || top + height * k > clientHeight) this.view.y += clientHeight / 2 - (top + (height * k) / 2);
    this.transform();
  }

  /** Brings a box to the middle, large enough to be read. */
  centre([x, y, width, height]) {
    const { clientWidth, clientHeight } = this.canvas;
    this.view.k = Math.max(this.view.k, 0.9);
    this.view.x = clientWidth / 2 - (x + width / 2) * this.view.k;
    this.view.y = clientHeight / 2 - (y + height / 2) * this.view.k;
    this.transform();
  }

  /** For paper: the shown part at its natural size, whatever the window shows. */
  print(on) {
    if (on) this.canvas.setAttribute("viewBox", this.extent().map(Math.round).join(" "));
    else this.canvas.removeAttribute("viewBox");
    if (on) this.world.removeAttribute("transform");
    else this.transform();
  }
}
