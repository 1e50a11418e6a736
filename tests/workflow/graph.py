"""The workflow graph of a recorded Montage run against the trail's own table of events, read by pyarrow.

usage: graph.py IOTRAIL [TRAIL]     (the packages of tests/interop/requirements.txt; without a trail a small run is planned and recorded)

Checked: the number of processes; that there is no cycle; that for each process and file the bytes of the edges are those of
the calls; that bytes on edges and bytes left out are the bytes of all calls; that create comes before write before read.
"""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pyarrow.parquet as parquet

import montage

READS = {"read", "pread64", "readv", "preadv", "preadv2", "recvfrom", "recvmsg"}
WRITES = {"write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg"}
COLUMNS = ["case_id", "pid", "call", "path", "path2", "size", "errno", "flags"]
COPIES = {"sendfile", "copy_file_range", "splice", "tee"}


def main():
    iotrail = str(pathlib.Path(sys.argv[1]).resolve())
    if len(sys.argv) > 2:
        return check(iotrail, pathlib.Path(sys.argv[2]))
    missing = [program for program in (*montage.PROGRAMS, "make") if not shutil.which(program)]
    if missing:
        return print(f"NOT TESTED: the graph of Montage, for want of {', '.join(missing)} (Debian: montage make)")
    home = pathlib.Path(tempfile.mkdtemp(prefix="iotrail-graph-")).resolve()
    try:
        montage.plan(home / "run")
        subprocess.run([iotrail, "-q", "record", "-o", home / "t.trail", "--", "make", "-s", "-j2", "-C", home / "run"],
                       check=True, stdout=subprocess.DEVNULL)
        return check(iotrail, home / "t.trail")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def check(iotrail, trail):
    text = subprocess.run([iotrail, "-q", "workflow", trail, "--json"], check=True, capture_output=True, text=True).stdout
    graph = json.loads(text)
    events = [row for file in sorted(trail.glob("events-*.parquet")) for row in parquet.read_table(file, columns=COLUMNS).to_pylist()]
    check_processes(graph, len({(row["case_id"], row["pid"]) for row in events}))
    check_order(graph)
    pairs = check_bytes(graph, events)
    check_relations(graph, events)
    print(f"workflow: {len(graph['vertices'])} vertices, {len(graph['edges'])} edges, {pairs} pairs of process and file agree")


def process(graph, vertex):
    return graph["vertices"][vertex]["facts"].get("process")


def file(graph, vertex):
    return graph["vertices"][vertex]["facts"].get("file")


def check_processes(graph, expected):
    processes = [vertex["facts"]["process"] for vertex in graph["vertices"] if "process" in vertex["facts"]]
    distinct = {one["process"] for one in processes}
    assert len(distinct) == expected, f"{len(distinct)} processes, expected {expected}"
    assert all(one["exe"] for one in processes), "a process without a program"


def check_order(graph):
    backward = [edge for edge in graph["edges"] if edge["from"] >= edge["to"]]
    assert not backward, f"not a topological order: {backward[0]}"


def figures(graph):
    """For each edge between a process and a file: the process, the file, the edge."""
    for edge in graph["edges"]:
        one, other = edge["from"], edge["to"]
        if process(graph, one) and file(graph, other):
            yield one, other, edge
        elif file(graph, one) and process(graph, other):
            yield other, one, edge


def check_bytes(graph, events):
    on_edges = collections.Counter()
    names = {}
    for who, what, edge in figures(graph):
        path = file(graph, what)["path"]
        names.update({name: path for name in file(graph, what)["names"]})
        key = process(graph, who)["pid"], path
        on_edges[key + ("read",)] += edge["read"]["bytes"]
        on_edges[key + ("written",)] += edge["written"]["bytes"]
    in_calls = collections.Counter()
    total = 0
    for event in events:
        call, size = event["call"].removeprefix("io_uring_"), event["size"]
        if size is None:
            continue
        if call in READS | COPIES:
            in_calls[event["pid"], names.get(event["path"], event["path"]), "read"] += size
            total += size
        if call in WRITES | COPIES:
            path = event["path2"] if call in COPIES else event["path"]
            in_calls[event["pid"], names.get(path, path), "written"] += size
            total += size
    assert len({event["pid"] for event in events}) == len({(event["case_id"], event["pid"]) for event in events})
    for key, size in on_edges.items():
        assert in_calls[key] == size, f"{key}: {size} bytes on edges, {in_calls[key]} in calls"
    left_out = sum(size for key, size in in_calls.items() if key not in on_edges)
    assert left_out == graph["left_out"]["bytes"], f"{left_out} bytes left out, the graph says {graph['left_out']['bytes']}"
    assert total == sum(on_edges.values()) + left_out
    return len(on_edges)


def check_relations(graph, events):
    ends = collections.Counter((who, what) for who, what, _ in figures(graph))
    assert max(ends.values()) == 1, "two relations between one process and one version"
    made = {
        (event["pid"], event["path"])
        for event in events
        if event["call"] == "openat" and event["errno"] is None and {"O_CREAT", "O_TRUNC"} <= set((event["flags"] or "").split("|"))
    }
    # A process that took in what depends on itself has several parts; the first that writes makes the file.
    creates = {(process(graph, who)["pid"], what) for who, what, edge in figures(graph) if edge["relation"] == "create"}
    for who, what, edge in figures(graph):
        key = process(graph, who)["pid"], file(graph, what)["path"]
        outward = edge["from"] == who
        assert outward == (edge["relation"] in ("create", "write")), edge
        if edge["written"]["calls"]:
            assert outward, f"{key}: written, but drawn as {edge['relation']}"
            first = graph["vertices"][what]["facts"]["file"]["version"] == 1
            assert not first or key not in made or (key[0], what) in creates, f"{key}: made, but drawn as write"


if __name__ == "__main__":
    main()
