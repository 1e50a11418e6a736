#!/usr/bin/env python3
"""Checks a JSON file against a schema of this repository: check_json.py SCHEMA FILE...

Needs jsonschema from PyPI. Schemas refer to one another by file name, so that they resolve offline. Beyond the schema,
it checks what a schema cannot say about a graph: that the counts of its parts add up.
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator
from referencing import Registry, Resource


def registry(directory):
    files = sorted(directory.resolve().glob("*.schema.json"))
    return Registry().with_resources(
        (path.as_uri(), Resource.from_contents(json.loads(path.read_text()))) for path in files
    )


def sums(dfg):
    """Yields what does not add up in a graph."""
    if dfg["events"]["total"] != dfg["events"]["mapped"] + dfg["events"]["unmapped"]:
        yield "events: total is not mapped + unmapped"
    if sum(node["count"] for node in dfg["nodes"]) != dfg["events"]["mapped"]:
        yield "nodes: counts do not add up to the mapped events"
    if sum(variant["count"] for variant in dfg["variants"]) != dfg["cases"]:
        yield "variants: counts do not add up to the cases"
    inward, outward = {}, {}
    for edge in dfg["edges"]:
        inward[edge["to"]] = inward.get(edge["to"], 0) + edge["count"]
        outward[edge["from"]] = outward.get(edge["from"], 0) + edge["count"]
    for node in dfg["nodes"]:
        name = node["activity"]
        if not inward.get(name) == outward.get(name) == node["count"]:
            yield f"edges: what enters and leaves {name!r} is not its count"
    if dfg["cases"] and not inward.get("■") == outward.get("●") == dfg["cases"]:
        yield "edges: what leaves ● or enters ■ is not the number of cases"


def documents(path):
    """The document of a file; of JSON lines each."""
    text = path.read_text()
    return map(json.loads, text.splitlines() if path.suffix == ".jsonl" else [text])


def problems(path, schemas, document):
    validator = Draft202012Validator({"$ref": path.resolve().as_uri()}, registry=schemas)
    for error in sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.absolute_path))):
        yield f"{error.json_path}: {error.message[:300]}"
    graph = document.get("dfg", document) if isinstance(document, dict) else {}
    if "edges" in graph and "variants" in graph:
        yield from sums(graph)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[1])
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    schemas = registry(path.parent)
    failed = False
    for name in sys.argv[2:]:
        found = [problem for document in documents(pathlib.Path(name)) for problem in problems(path, schemas, document)]
        for problem in found:
            print(f"{name}: {problem}", file=sys.stderr)
        print(f"{name}: {'does not conform' if found else 'conforms'} to {path.name}")
        failed |= bool(found)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
