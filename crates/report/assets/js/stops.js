// What the graph shows at the stops of its two sliders, and where, as computed when the page was written.

import { END, START } from "./data.js";

/** The points of a line and the middle of its label, of differences from point to point. */
export function line(steps) {
  const points = [];
  for (let place = 0; place + 1 < steps.length; place += 2) {
    const [x, y] = points.at(-1) ?? [0, 0];
    points.push([x + steps[place], y + steps[place + 1]]);
  }
  const label = points.pop();
  return { route: points.flat(), label };
}

export class Stops {
  /** `stops` as stored, `widths` of the boxes of all activities. */
  constructor({ order, mark, height, list }, widths) {
    this.order = order;
    this.list = list;
    this.ranks = new Map(order.map((node, rank) => [node, rank]));
    this.size = (node) => (node < 0 ? [mark, mark] : [widths[node], height]);
    this.layouts = new Map();
  }

  /** How many lines there are at a stop of both sliders. */
  lines(stop, level) {
    const { edges, ways } = this.list[stop].levels[level];
    return edges.length + ways.length;
  }

  /** The level of a stop that is nearest to a share of its lines: 0 has the fewest, 1 the most. */
  level(stop, share) {
    return Math.round(share * (this.list[stop].levels.length - 1));
  }

  /** The share of a level of a stop: 0 of the first, 1 of the last. */
  share(stop, level) {
    const last = this.list[stop].levels.length - 1;
    return last > 0 ? level / last : 1;
  }

  /** The last stop and level of which a reader can take in everything at once. */
  readable(activities, lines) {
    const stop = Math.max(
      this.list.findLastIndex(({ n }) => n <= activities),
      0,
    );
    const level = this.list[stop].levels.findLastIndex((_, index) => this.lines(stop, index) <= lines);
    return [stop, Math.max(level, 0)];
  }

  /** The first stop that shows an activity. */
  ofNode(node) {
    return this.list.findIndex(({ n }) => this.ranks.get(node) < n);
  }

  /** The first stop and level, from `stop` on, that show a transition; nothing if none does. */
  ofEdge(edge, stop) {
    for (let at = stop; at < this.list.length; at += 1) {
      const level = this.list[at].levels.findIndex(({ edges }) => edges.some(([index]) => index === edge));
      if (level >= 0) return [at, level];
    }
    return null;
  }

  /**
   * Boxes (left, top, width, height) by activity, ● and ■ among them; lines of transitions by number; ways through hidden activities; left, top,
   * width and height of all.
   */
  layout(stop, level) {
    const key = `${stop} ${level}`;
    if (!this.layouts.has(key)) this.layouts.set(key, this.unpack(this.list[stop], this.list[stop].levels[level]));
    return this.layouts.get(key);
  }

  unpack({ n }, { at, edges, ways }) {
    const shown = [START, END, ...this.order.slice(0, n)];
    const boxes = new Map(shown.map((node, place) => [node, [at[2 * place], at[2 * place + 1], ...this.size(node)]]));
    const lines = new Map(edges.map(([edge, steps]) => [edge, line(steps)]));
    const through = ways.map(([from, to, count, hidden, names, steps]) => ({
      from,
      to,
      count,
      hidden,
      names,
      line: line(steps),
    }));
    const corners = [...boxes.values()].flatMap(([x, y, width, height]) => [
      [x, y],
      [x + width, y + height],
    ]);
    const all = [...lines.values(), ...through.map((way) => way.line)];
    const range = (axis) => {
      const ends = corners.map((corner) => corner[axis]);
      const ways = all.flatMap(({ route }) => route.filter((_, place) => place % 2 === axis));
      const values = [...ends, ...ways];
      return [Math.min(...values), Math.max(...values)];
    };
    const [[left, right], [top, bottom]] = [range(0), range(1)];
    return { boxes, lines, ways: through, extent: [left, top, right - left, bottom - top] };
  }
}
