// The stops of the graph's sliders, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Stops, line } from "../../crates/report/assets/js/stops.js";

const level = (edges, ways = []) => ({ at: [0, 0, 0, 90, 10, 40], edges, ways });
const stops = new Stops(
  {
    order: [2, 0, 1],
    mark: 24,
    height: 60,
    list: [
      { n: 1, levels: [level([], [[-1, 2, 4, 2, [7], [1, 2, 0, 0, 0, 0, 3, 30, 5, 5]]])] },
      {
        n: 3,
        levels: [
          level([[5, [1, 2, 0, 0, 0, 0, 3, 30, 5, 5]]]),
          level([
            [5, [1, 2, 9, 9]],
            [6, [1, 2, 9, 9]],
          ]),
        ],
      },
    ],
  },
  [150, 160, 170],
);

test("a line is a sum of steps, and its label lies at the end of them", () => {
  assert.deepEqual(line([10, 20, 1, -2, 2, 12, 0, 1, -1, -5]), {
    route: [10, 20, 11, 18, 13, 30, 13, 31],
    label: [12, 26],
  });
});

test("a stop has its most important activities, and ways through the others", () => {
  const { boxes, lines, ways, extent } = stops.layout(0, 0);
  assert.deepEqual(
    [...boxes],
    [
      [-1, [0, 0, 24, 24]],
      [-2, [0, 90, 24, 24]],
      [2, [10, 40, 170, 60]],
    ],
  );
  assert.equal(lines.size, 0);
  assert.deepEqual(
    ways.map(({ from, to, count, hidden, names }) => [from, to, count, hidden, names]),
    [[-1, 2, 4, 2, [7]]],
  );
  assert.deepEqual(extent, [0, 0, 180, 114]);
});

test("the first stop of an activity and of a transition is found", () => {
  assert.deepEqual([stops.ofNode(2), stops.ofNode(0), stops.ofNode(1)], [0, 1, 1]);
  assert.deepEqual([stops.ofEdge(6, 0), stops.ofEdge(5, 1), stops.ofEdge(9, 0)], [[1, 1], [1, 0], null]);
});

test("what is opened is the most that a reader can take in", () => {
  assert.deepEqual(stops.readable(24, 80), [1, 1]);
  assert.deepEqual(stops.readable(24, 1), [1, 0]);
  assert.deepEqual(stops.readable(2, 80), [0, 0]);
  assert.deepEqual([stops.share(0, 0), stops.share(1, 0), stops.share(1, 1)], [1, 0, 1]);
  assert.deepEqual([stops.level(1, 1), stops.level(1, 0.2), stops.level(0, 1)], [1, 0, 0]);
});
