// What hidden activities join, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { project } from "../../crates/report/assets/js/projection.js";

const edge = (from, to, count) => ({ from, to, count });
const isShown = (name) => !name.startsWith("hidden");

test("a way through hidden activities is as strong as its weakest transition, and the strongest one is taken", () => {
  const edges = [
    edge("a", "hidden1", 5),
    edge("hidden1", "hidden2", 4),
    edge("hidden2", "b", 9),
    edge("a", "hidden3", 2),
    edge("hidden3", "b", 2),
    edge("a", "b", 1),
  ];
  assert.deepEqual(project(edges, isShown), [{ from: "a", to: "b", count: 4, hidden: ["hidden1", "hidden2"] }]);
});

test("every shown activity that only hidden ones join to others gets a way in and out", () => {
  const edges = [edge("a", "hidden", 3), edge("hidden", "b", 2), edge("hidden", "c", 1), edge("hidden", "hidden", 7)];
  const ways = project(edges, isShown).map(({ from, to, count }) => `${from} ${to} ${count}`);
  assert.deepEqual(ways.sort(), ["a b 2", "a c 1"]);
});

test("circles of hidden activities, ways back to the start and shown neighbours make no way", () => {
  const edges = [
    edge("a", "hidden1", 3),
    edge("hidden1", "hidden2", 3),
    edge("hidden2", "hidden1", 3),
    edge("hidden1", "a", 3),
    edge("a", "b", 2),
  ];
  assert.deepEqual(project(edges, isShown), []);
});
