// What hidden activities join: from a shown one through hidden ones only to the next shown one.

/**
 * The strongest ways through hidden nodes: for each shown node the one out of it and the one into it. The strength of a way is that
 * of its weakest transition, so a way was taken at most that often. `edges` are { from, to, count }, `isShown` tells of a node.
 * Answers [{ from, to, count, hidden: [nodes] }].
 */
export function project(edges, isShown) {
  const out = new Map();
  for (const edge of edges) if (edge.from !== edge.to) out.set(edge.from, [...(out.get(edge.from) ?? []), edge]);
  const best = new Map();
  const keep = (key, way) => {
    if (!best.has(key) || best.get(key).count < way.count) best.set(key, way);
  };
  for (const start of [...out.keys()].filter(isShown))
    for (const way of waysFrom(start, out, isShown)) {
      keep(`from ${start}`, way);
      keep(`to ${way.to}`, way);
    }
  return [...new Set(best.values())];
}

/** The strongest way to each shown node that hidden ones lead to (widest paths, after Dijkstra). */
function waysFrom(start, out, isShown) {
  const reached = new Map();
  const open = new Map();
  const ends = new Map();
  const step = (node, width, hidden) => {
    for (const edge of out.get(node) ?? []) {
      const count = Math.min(width, edge.count);
      if (isShown(edge.to)) {
        if (hidden.length > 0 && edge.to !== start && (ends.get(edge.to)?.count ?? 0) < count)
          ends.set(edge.to, { from: start, to: edge.to, count, hidden });
      } else if (!reached.has(edge.to) && (open.get(edge.to)?.count ?? 0) < count)
        open.set(edge.to, { count, hidden: [...hidden, edge.to] });
    }
  };
  step(start, Infinity, []);
  while (open.size > 0) {
    const [node, way] = [...open].reduce((widest, one) => (one[1].count > widest[1].count ? one : widest));
    open.delete(node);
    reached.set(node, way);
    step(node, way.count, way.hidden);
  }
  return [...ends.values()];
}
