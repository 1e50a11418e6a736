"""Other people's programs read the graph formats: Graphviz, networkx, Mermaid's own parser is in tests/interop, prov, Perfetto's schema.

usage: graphs.py IOTRAIL     (the packages of requirements.txt are installed)

A shell pipeline with hostile names is recorded; every format must have the vertices and edges that the JSON has, and the names as
they were. What could not be tested is said at the end.
"""

import collections
import html
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import networkx
import prov.model

HOSTILE = 'a "b" <c> & \'d\' $x\\N.txt'
missed = []


def iotrail(*words):
    return subprocess.run([IOTRAIL, "-q", *words], check=True, capture_output=True).stdout


def record(home):
    (home / "in.txt").write_text("b\na\nb\n")
    script = 'sort in.txt | uniq -c | gzip -n >"$0"; cat <"$0" >copy; x=$(cat copy | wc -c); echo $x >>copy'
    subprocess.run([IOTRAIL, "-q", "record", "-o", home / "t.trail", "--", "sh", "-c", script, HOSTILE], cwd=home, check=True)
    return home / "t.trail"


def export(trail, name):
    target = trail.parent / name
    iotrail("workflow", trail, "-o", target)
    return target


def check_dot(trail, graph):
    target = export(trail, "w.dot")
    if not shutil.which("dot"):
        missed.append("DOT: no Graphviz")
        return
    drawn = json.loads(subprocess.run(["dot", "-Tjson", target], check=True, capture_output=True).stdout)
    assert len(drawn["objects"]) == len(graph["vertices"]) and len(drawn["edges"]) == len(graph["edges"])
    # Graphviz keeps its escapes in what it prints.
    seen = [html.unescape(node.get("tooltip", "").replace("\\\\", "\\")) for node in drawn["objects"]]
    assert any(tooltip.endswith(HOSTILE) for tooltip in seen), seen


def check_networkx(trail, graph):
    gml = networkx.read_gml(export(trail, "w.gml"))
    graphml = networkx.read_graphml(export(trail, "w.graphml"), force_multigraph=True)
    cyjs = networkx.cytoscape_graph(json.loads(export(trail, "w.cyjs").read_text()))
    expected = sorted(vertex["key"] for vertex in graph["vertices"])
    relations = collections.Counter(edge["relation"] for edge in graph["edges"])
    moved = sum(edge["read"]["bytes"] + edge["written"]["bytes"] for edge in graph["edges"])
    keys = {
        "gml": list(gml.nodes),
        "graphml": [data["key"] for _, data in graphml.nodes(data=True)],
        "cyjs": [data["key"] for _, data in cyjs.nodes(data=True)],
    }
    for name, read in (("gml", gml), ("graphml", graphml), ("cyjs", cyjs)):
        assert sorted(keys[name]) == expected, name
        seen = collections.Counter(data["relation"] for _, _, data in read.edges(data=True))
        assert seen == relations, (name, seen, relations)
        assert sum(int(data.get("bytes", 0)) for _, _, data in read.edges(data=True)) == moved, name
        assert networkx.is_directed_acyclic_graph(read), name


def check_prov(trail, graph):
    document = prov.model.ProvDocument.deserialize(export(trail, "w.prov.json"))
    processes = sum("process" in vertex["facts"] for vertex in graph["vertices"])
    assert len(list(document.get_records(prov.model.ProvActivity))) == processes
    files = [one for one in document.get_records(prov.model.ProvEntity)]
    assert len(files) >= len(graph["vertices"]) - processes
    forks = sum(edge["relation"] == "fork" for edge in graph["edges"])
    assert len(list(document.get_records(prov.model.ProvStart))) == forks
    assert any(HOSTILE in str(value) for one in files for _, value in one.attributes), "no hostile name"


def check_perfetto(trail):
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
    except ImportError:
        missed.append("Perfetto: its Python package has no schema here")
        return
    target = trail.parent / "t.pftrace"
    iotrail("export", "perfetto", trail, "-o", target)
    trace = schema.Trace()
    trace.ParseFromString(target.read_bytes())
    names, begun, calls, processes, threads = {}, collections.Counter(), 0, 0, 0
    for packet in trace.packet:
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        if packet.HasField("track_descriptor"):
            processes += packet.track_descriptor.HasField("process")
            threads += packet.track_descriptor.HasField("thread")
        if packet.HasField("track_event"):
            event = packet.track_event
            assert event.type in (1, 2, 3), "a type of event that is none"
            begun[event.track_uuid] += {1: 1, 2: -1, 3: 0}[event.type]
            assert begun[event.track_uuid] >= 0, "a slice ends before it begins"
            assert event.type == 2 or event.name_iid in names, "a name that was not introduced"
            calls += event.type != 2
    rows = [json.loads(line) for line in iotrail("events", trail, "--json").splitlines()]
    images = iotrail("processes", trail, "--json").splitlines()
    assert calls == len(rows) + len(images), (calls, len(rows), len(images))
    assert set(begun.values()) <= {0}, "slices that do not end"
    assert processes == len({json.loads(line)["pid"] for line in images}) == threads


def main():
    home = pathlib.Path(tempfile.mkdtemp(prefix="iotrail-graphs-")).resolve()
    try:
        trail = record(home)
        graph = json.loads(iotrail("workflow", trail, "--json"))
        check_dot(trail, graph)
        check_networkx(trail, graph)
        check_prov(trail, graph)
        check_perfetto(trail)
        export(trail, "w.mmd")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    for one in missed:
        print(f"NOT TESTED: {one}")
    print(f"exchange: {len(graph['vertices'])} vertices and {len(graph['edges'])} edges read by Graphviz, networkx, prov and Perfetto's schema")


IOTRAIL = os.path.abspath(sys.argv[1])
main()
