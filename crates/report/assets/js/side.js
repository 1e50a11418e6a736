// A panel beside a picture: what is chosen there, in figures.

import { clear, h } from "./dom.js";

export class Side {
  /** `stage` is the grid that holds the picture and the panel `root`. */
  constructor(stage, root, closed) {
    Object.assign(this, { stage, root, closed });
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
  }

  show(kind, title, children) {
    clear(this.root).append(
      h(
        "header",
        null,
        h(
          "div",
          null,
          h("p", { class: "kind" }, kind),
          h("h3", { id: `${this.root.id}-title`, tabindex: "-1" }, title),
        ),
        h(
          "button",
          { type: "button", class: "close", "aria-label": "Close the figures", onclick: () => this.close() },
          "×",
        ),
      ),
      ...children.filter(Boolean),
    );
    this.root.hidden = false;
    this.root.scrollTop = 0;
    this.stage.classList.add("open");
  }

  hide() {
    this.root.hidden = true;
    clear(this.root);
    this.stage.classList.remove("open");
  }

  close() {
    this.hide();
    this.closed();
  }
}
