#!/usr/bin/env python3
"""Bytes and calls of imported traces of other programs against sums over their text.

Usage: sums.py IOTRAIL
For each text of Darshan DXT: calls, bytes, smallest and largest offset of each rank, file, layer and direction; first start and last
end. For each output of ltrace: calls of each layer, bytes that system calls read and wrote, which functions made them.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"


def events(iotrail, trace, trail):
    """The events of a trace, and the coverage statement."""
    run = [iotrail, "import", "-q", "--force", "-o", trail, trace]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    shown = subprocess.run([iotrail, "events", "-q", trail, "--layer", "all", "--json"], check=True, capture_output=True)
    info = subprocess.run([iotrail, "info", trail, "--json"], check=True, capture_output=True)
    return [json.loads(line) for line in shown.stdout.splitlines()], json.loads(info.stdout)


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}:\n  trail {found}\n  text  {expected}")


def darshan(iotrail, text, trail):
    segment = re.compile(r"^\s*X_(\w+)\s+(\d+)\s+(write|read)\s+\d+\s+(-?\d+)\s+(\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)(?:\s.*)?$")
    path, begin, expected, times = None, None, collections.defaultdict(list), []
    for line in text.read_text().splitlines():
        if match := re.match(r"# DXT, file_id: \d+, file_name: (.*)", line):
            path = None if match[1] == "(null)" else match[1]
        elif match := re.match(r"# start_time: (\d+)$", line):
            begin = int(match[1])
        elif match := segment.match(line):
            key = (match[1].lower(), match[2], path, match[3])
            expected[key].append((None if match[4] == "-1" else int(match[4]), int(match[5])))
            times += [round(float(time) * 1e4) for time in (match[6], match[7])]
    rows, info = events(iotrail, text, trail)
    found = collections.defaultdict(list)
    for row in rows:
        way = "write" if "write" in row["call"] else "read"
        found[(row["layer"], row["rid"], row["path"], way)].append((row["offset"], row["size"]))
    order = lambda rows: {key: sorted(values, key=str) for key, values in rows.items()}
    same(text.name, order(found), order(expected))
    first, last = times[::2], times[1::2]
    since = [(row["start_ns"] - begin * 10**9) // 10**5 for row in rows]
    until = [start + row["dur"] // 10**5 for start, row in zip(since, rows)]
    same(f"{text.name}, times", (min(since), max(until), sum(since), sum(until)), (min(first), max(last), sum(first), sum(last)))
    same(f"{text.name}, lines", info["coverage"]["lines"]["total"], len(text.read_text().splitlines()))
    return len(rows)


def ltrace(iotrail, text, trail):
    line = re.compile(
        r"^(?:\[pid (?P<terminal>\d+)\] )?(?:(?P<pid>\d+) )? *(?:\d[\d:]*(?:\.\d+)? )?"
        r"(?:<\.\.\. (?P<resumed>\S+) resumed> |(?P<name>[\w@.>-]+)\()(?P<rest>.*)$"
    )
    calls, moved, entered = collections.Counter(), collections.Counter(), collections.Counter()
    lines = text.read_text(errors="replace").splitlines()
    for number, shown in enumerate(lines):
        match = line.match(shown)
        if not match:
            if shown.endswith("--- Called exec() ---"):
                pid = shown.split()[0]
                for key in [key for key in entered if key[0] == pid]:
                    calls["syscall" if key[1].startswith("SYS_") else "libc"] += entered.pop(key)
            continue
        pid, name = match["terminal"] or match["pid"], (match["resumed"] or match["name"]).rpartition("->")[2]
        layer = "syscall" if name.startswith("SYS_") else "libc"
        if shown.endswith((" <unfinished ...>", " <no return ...>")):
            entered[pid, name] += 1
            continue
        if match["resumed"]:
            if not entered[pid, name]:
                continue  # A child returns from the fork of its parent.
            entered[pid, name] -= 1
        result = re.search(r"\) += (-?\d+|0x[0-9a-f]+)(?: <[\d.]+>)?$", shown)
        value = int(result[1], 0) if result else None
        if layer == "syscall" and value in (-512, -513, -514, -516):
            continue
        calls[layer] += 1
        if name in ("SYS_read", "SYS_write", "SYS_pread") and value is not None and value > 0:
            moved[name] += value
    for (_, name), number in entered.items():
        calls["syscall" if name.startswith("SYS_") else "libc"] += number
    rows, info = events(iotrail, text, trail)
    found, sizes = collections.Counter(row["layer"] for row in rows), collections.Counter()
    names = {"read": "SYS_read", "write": "SYS_write", "pread64": "SYS_pread"}
    for row in rows:
        if row["layer"] == "syscall" and row["call"] in names and row["size"]:
            sizes[names[row["call"]]] += row["size"]
    same(f"{text.name}, bytes", sizes, moved)
    same(f"{text.name}, calls", found, calls)
    same(f"{text.name}, lines", info["coverage"]["lines"]["total"], len(lines))
    by_seq = {(row["case_id"], row["seq"]): row for row in rows}
    for row in rows:
        outer = by_seq.get((row["case_id"], row["parent"]))
        if outer and (outer["layer"], row["layer"], outer["tid"]) != ("libc", "syscall", row["tid"]):
            sys.exit(f"{text.name}: {outer['call']} is no parent of {row['call']}")
    return len(rows)


def main():
    iotrail = sys.argv[1]
    counted = 0
    with tempfile.TemporaryDirectory() as directory:
        trail = pathlib.Path(directory) / "t.trail"
        for check, pattern in ((darshan, "darshan/*.txt"), (ltrace, "ltrace/*.lt")):
            texts = sorted(FIXTURES.glob(pattern))
            if not texts:
                sys.exit(f"no fixtures {pattern}")
            for text in texts:
                counted += check(iotrail, text, trail)
    print(f"{counted} events have the sums of their texts")


main()
