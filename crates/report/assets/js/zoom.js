// A stretch of an axis that moves and zooms within the whole of it.

/** Has `whole` and `range`, [from, to] each, and the least stretch that `least()` allows; `draw()` shows it anew. */
export class ZoomView {
  zoom(factor, centre = (this.range[0] + this.range[1]) / 2) {
    const [from, to] = this.range;
    const span = Math.min(Math.max((to - from) / factor, this.least()), this.whole[1] - this.whole[0]);
    this.place(centre - (span * (centre - from)) / (to - from), span);
  }

  pan(share) {
    const span = this.range[1] - this.range[0];
    this.place(this.range[0] + span * share, span);
  }

  place(from, span) {
    const start = Math.max(this.whole[0], Math.min(from, this.whole[1] - span));
    this.range = [start, start + span];
    this.draw();
  }
}
