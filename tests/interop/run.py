"""Other people's programs read what iotrail writes: DuckDB, pandas, pyarrow, networkx, pm4py, JSON Schema.

usage: run.py IOTRAIL        (the packages of requirements.txt are installed)
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INTEROP = ROOT / "tests" / "interop"
INPUTS = {
    "experiment": [ROOT / "examples" / "ssf-fpp" / "traces"],
    "paper": [ROOT / "crates" / "strace" / "tests" / "fixtures" / "paper"],
    "ls": [ROOT / "examples" / "ls" / "traces"],
    "recorded": [ROOT / "tests" / "fixtures" / "strace"],
}


def main():
    iotrail = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        for name, inputs in INPUTS.items():
            check(iotrail, pathlib.Path(scratch), name, inputs)
    print(f"interop: {len(INPUTS)} trails read by DuckDB, pandas, pyarrow, networkx, pm4py and JSON Schema")


def check(iotrail, scratch, name, inputs):
    trail = scratch / f"{name}.trail"
    call(iotrail, "-q", "import", "-o", trail, *inputs)
    call(iotrail, "check", trail)
    python("read_trail.py", trail)
    graph, graphml = scratch / f"{name}.json", scratch / f"{name}.graphml"
    call(iotrail, "-q", "dfg", trail, "--by", "cid", "-o", graph, "-o", graphml)
    python("check_json.py", ROOT / "schema" / "dfg.schema.json", graph)
    python("check_graphml.py", graphml, graph)
    comparison = scratch / f"{name}-comparison.json"
    groups = [group["name"] for group in json.loads(graph.read_text())["groups"]]
    call(iotrail, "-q", "compare", trail, "--by", "cid", "--groups", ",".join(groups[:2]), "-o", comparison)
    python("check_json.py", ROOT / "schema" / "compare.schema.json", comparison)
    for command, schema in (("stats", "profile"), ("workflow", "workflow"), ("why", "why"), ("advise", "advise")):
        document = scratch / f"{name}-{command}.json"
        call(iotrail, "-q", command, trail, "--json", "-o", document)
        python("check_json.py", ROOT / "schema" / f"{schema}.schema.json", document)
    for finding in json.loads((scratch / f"{name}-advise.json").read_text())["findings"][:1]:
        accesses = scratch / f"{name}-accesses.json"
        call(iotrail, "-q", "advise", trail, "--accesses", finding["file"], "--json", "-o", accesses)
        python("check_json.py", ROOT / "schema" / "advise.schema.json", accesses)
    files = scratch / f"{name}-files.jsonl"
    call(iotrail, "-q", "files", trail, "--json", "-o", files)
    python("check_json.py", ROOT / "schema" / "files.schema.json", files)
    structure = scratch / f"{name}.structure"
    call(iotrail, "-q", "compress", trail, "--precision", "60", "-o", structure, "--force")
    for command, of in (("structure", structure), ("loops", structure), ("matrix", structure), ("matrix", trail)):
        document = scratch / f"{name}-{command}.json"
        document.write_text(subprocess.run([iotrail, "-q", command, of, "--json"], capture_output=True, text=True, check=True).stdout)
        python("check_json.py", ROOT / "schema" / f"{command}.schema.json", document)
    by_call, events = scratch / f"{name}-call.json", scratch / f"{name}.csv"
    call(iotrail, "-q", "dfg", trail, "--map", "call", "--case", "rank", "-o", by_call)
    call(iotrail, "-q", "events", trail, "--csv", "-o", events)
    run([sys.executable, ROOT / "bench" / "pm4py_check.py", by_call, events])


def python(script, *words):
    run([sys.executable, INTEROP / script, *words])


def call(iotrail, *words):
    run([iotrail, *words])


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    main()
