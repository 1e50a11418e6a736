#!/usr/bin/env python3
"""Compares graphs of iotrail with those of pm4py (PyPI, AGPL: a referee here, no part of the product).

    pm4py_check.py GRAPH.json EVENTS.csv     one pair, as written by
                                             `iotrail dfg T --map call --case rank -o GRAPH.json`
                                             and `iotrail events T --csv`
    pm4py_check.py --random N                N random logs from the example `dfg_json` of the crate iotrail-dfg
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import pandas
import pm4py

KEYS = {"activity_key": "concept:name", "case_id_key": "case:concept:name", "timestamp_key": "time:timestamp"}


def event_log(csv):
    """The events as pm4py wants them; rows of a case are in order already, and ties keep that order."""
    table = pandas.read_csv(csv)
    case = table["case_id"] if "case_id" in table else table["case"]
    start = table["start"]
    times = pandas.to_datetime(start, utc=True, unit="ns" if pandas.api.types.is_numeric_dtype(start) else None)
    # Traces without time stamps have an order alone.
    times = times.fillna(pandas.Timestamp(0, tz="UTC"))
    log = pandas.DataFrame({"case:concept:name": case.astype(str), "concept:name": table["call"], "time:timestamp": times})
    log["row"] = range(len(log))
    return log.sort_values(["case:concept:name", "time:timestamp", "row"], kind="stable").reset_index(drop=True)


def differences(graph, log):
    relations, starts, ends = pm4py.discover_dfg(log, **KEYS)
    expected = {pair: int(count) for pair, count in relations.items()}
    expected |= {("●", activity): int(count) for activity, count in starts.items()}
    expected |= {(activity, "■"): int(count) for activity, count in ends.items()}
    found = {(edge["from"], edge["to"]): edge["count"] for edge in graph["edges"]}
    for pair in sorted(expected.keys() | found.keys()):
        if expected.get(pair) != found.get(pair):
            yield f"{pair}: pm4py {expected.get(pair)}, iotrail {found.get(pair)}"
    variants = sorted((list(trace), int(count)) for trace, count in pm4py.get_variants(log, **KEYS).items())
    ours = sorted((variant["trace"][1:-1], variant["count"]) for variant in graph["variants"])
    if not any(variant["truncated"] for variant in graph["variants"]) and variants != ours:
        yield f"variants: pm4py {len(variants)}, iotrail {len(ours)}, or their traces differ"


def check(graph, csv):
    found = list(differences(json.loads(pathlib.Path(graph).read_text()), event_log(csv)))
    for line in found:
        print(line, file=sys.stderr)
    return not found


def check_random(count):
    root = pathlib.Path(__file__).resolve().parent.parent
    run = ["cargo", "run", "-q", "-p", "iotrail-dfg", "--example", "dfg_json", "--"]
    same = 0
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(1, count + 1):
            subprocess.run([*run, directory, str(seed)], check=True, cwd=root)
            same += check(f"{directory}/dfg.json", f"{directory}/events.csv")
    print(f"{same} of {count} random logs give the graph and the variants of pm4py {pm4py.__version__}")
    return same == count


def main():
    match sys.argv[1:]:
        case ["--random", count]:
            good = check_random(int(count))
        case [graph, csv]:
            good = check(graph, csv)
            print("the same graph and variants" if good else "different graphs or variants")
        case _:
            sys.exit(__doc__)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
