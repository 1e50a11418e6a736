"""Reads a GraphML export with networkx and compares it with the JSON export: check_graphml.py X.graphml X.json

Exits with 77 if networkx is not installed.
"""

import json
import sys
import warnings

try:
    import networkx
except ImportError:
    sys.exit(77 if print("networkx is not installed, so it does not read the GraphML export", file=sys.stderr) is None else 1)


def main() -> None:
    warnings.simplefilter("error")
    graph = networkx.read_graphml(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        expected = json.load(file)
    names = {node: data["activity"] for node, data in graph.nodes(data=True)}
    by_name = {names[node]: data for node, data in graph.nodes(data=True)}
    assert len(by_name) == graph.number_of_nodes() == len(expected["nodes"]) + 2
    assert by_name["●"]["kind"] == "start" and by_name["■"]["kind"] == "end"
    for node in expected["nodes"]:
        data = by_name[shown(node["activity"])]
        for key in ["count", "cases", "failures", "files", "duration_ns", "relative_duration", "bytes", "max_concurrency"]:
            assert data.get(key) == node[key], (node["activity"], key, data.get(key), node[key])
        assert data.get("data_rate") == node["data_rate"]
        assert data.get("duration_p95_ns") == node["duration"]["p95"]
        for group, figures in node["groups"].items():
            assert data[shown(group) + ": count"] == figures["count"]
    edges = {(names[source], names[target]): data for source, target, data in graph.edges(data=True)}
    assert len(edges) == len(expected["edges"])
    for edge in expected["edges"]:
        data = edges[(shown(edge["from"]), shown(edge["to"]))]
        assert data["count"] == edge["count"] and data.get("gap_p50_ns") == edge["gap_ns"]["p50"]


def shown(name: str) -> str:
    """XML has no way to write most control characters; they become U+FFFD."""
    return "".join("\ufffd" if ord(c) < 32 and c not in "\t\n\r" or c in "\ufffe\uffff" else c for c in name)


if __name__ == "__main__":
    main()
