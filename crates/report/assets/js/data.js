// The data of the page: dictionary-encoded as stored, with names in place of numbers where the page needs them.

export const START = -1;
export const END = -2;

/** Bin 0 holds zeros, bin n the values from 2^(n-1) to below 2^n. */
function bin([number, count]) {
  return number === 0 ? [0, 1, count] : [2 ** (number - 1), 2 ** number, count];
}

/** Named access to the rows that are stored as plain lists. */
export function load(element) {
  const data = JSON.parse(element.textContent);
  const text = (index) => (index === null || index < 0 ? null : data.names[index]);
  data.text = text;
  data.nodes.forEach((node, index) => {
    node.index = index;
    node.name = text(node.n);
    node.g ??= null;
    node.dh = node.dh.map(bin);
    node.sh = node.sh.map(bin);
    node.rd =
      node.t === null || data.totals.mapped_ns === null
        ? null
        : data.totals.mapped_ns > 0
          ? node.t / data.totals.mapped_ns
          : 0;
  });
  data.edges = data.edges.map(([from, to, count, cases, mean, p50, p95, sum, groups], index) => ({
    index,
    from,
    to,
    count,
    cases,
    mean,
    p50,
    p95,
    sum,
    groups: groups || null,
  }));
  data.label = (index) => (index === START ? "●" : index === END ? "■" : data.nodes[index].name);
  data.grouped = data.groups.length > 0;
  return data;
}

export const EDGE_MEASURES = {
  count: { label: "count", of: (edge) => edge.count },
  cases: { label: "cases", of: (edge) => edge.cases },
  mean: { label: "mean gap", of: (edge) => edge.mean },
  sum: { label: "total gap", of: (edge) => edge.sum },
};
