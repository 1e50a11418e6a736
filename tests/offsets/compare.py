"""Offsets against the truth: a program that moves cursors at random and notes where each transfer began (tests/programs/offsets.c),
recorded and traced by strace in several ways. An offset of the trail is the truth or NULL, never another value; and enough of them are
known that NULL everywhere would not do.

usage: compare.py IOTRAIL [--seeds N] [--first N] [--steps N] [--keep] [MODE...]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLS = {"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv2", "pwritev2", "sendfile", "copy_file_range", "splice", "lseek",
         "sendmsg", "recvmsg"}
STRACE = ["strace", "-o", "{trace}"]
# How to run it, what the program does, and the least share of offsets that must be known, of those that can be. In races it is the
# less the busier the machine is.
MODES = {
    "record": (["{iotrail}", "record", "-q", "-o", "{trail}", "--"], "turns", 0.95),
    "record-race": (["{iotrail}", "record", "-q", "-o", "{trail}", "--"], "race", 0.3),
    "record-threads": (["{iotrail}", "record", "-q", "-o", "{trail}", "--"], "threads", 0.4),
    "y": (STRACE + ["-f", "-y", "-ttt", "-T"], "turns", 0.3),
    "yy": (STRACE + ["-f", "-yy", "-ttt", "-T"], "turns", 0.3),
    "plain": (STRACE + ["-f"], "turns", 0.3),
    "seconds": (STRACE + ["-f", "-t"], "turns", 0.3),
    "race": (STRACE + ["-f", "-ttt", "-T"], "race", 0.12),
    "threads": (STRACE + ["-f", "-y"], "threads", 0.1),
    "ff": (STRACE + ["-ff", "-y", "-ttt", "-T"], "turns", 0.2),
    "ff-untimed": (STRACE + ["-ff"], "turns", 0.1),
    "ff-race": (STRACE + ["-ff", "-ttt"], "race", 0.05),
    "one": (STRACE + ["-y"], "turns", 0.2),
    "without-read": (STRACE + ["-f", "-y", "-e", "trace=!read"], "turns", 0.0),
    "without-write": (STRACE + ["-f", "-y", "-e", "trace=!write"], "turns", 0.0),
    "some-letters": (STRACE + ["-f", "-y", "-e", "trace=/^[brow]"], "turns", 0.0),
    "chosen": (STRACE + ["-f", "-e", "trace=openat,read,write,close,clone,fork,exit_group"], "turns", 0.0),
}


# Of the modes that leave calls out: whether they hold a call.
HOLDS = {
    "without-read": lambda call: call != "read",
    "without-write": lambda call: call != "write",
    "some-letters": lambda call: call[0] in "brow",
}


def compiled(directory):
    program = directory / "offsets"
    source = ROOT / "tests" / "programs" / "offsets.c"
    subprocess.run(["cc", "-O1", "-static", "-o", program, source, "-lpthread"], check=True)
    return program


def events(iotrail, trail):
    """The transfers and seeks of each thread, in order."""
    done = subprocess.run([iotrail, "events", trail, "--json", "--call", ",".join(sorted(CALLS))], check=True, capture_output=True)
    found = defaultdict(list)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for row in sorted(rows, key=lambda row: (row["start_ns"], row["seq"])):
        found[row["tid"]].append(row)
    return found


def truth(notes):
    noted = defaultdict(dict)
    for line in notes.read_text().splitlines():
        tid, number, call, returned, position = line.split()
        noted[int(tid)][int(number)] = (call, int(returned), position)
    return noted


def is_of_library(row):
    """A read or write by which the C library wrote the notes down."""
    return (row["path"] or "").endswith("/notes")


def compare(found, noted, one, holds):
    """Faults, and how many offsets are known of how many that can be."""
    faults, known, all_of_them = [], 0, 0
    held = {tid: [note for _, note in sorted(notes.items()) if holds(note[0])] for tid, notes in noted.items()}
    noted = {tid: dict(enumerate(notes)) for tid, notes in held.items()}
    if one:
        # The process that strace started; of its children the trace holds nothing.
        noted = {min(noted): noted[min(noted)]}
    for tid, notes in noted.items():
        rows = [row for row in found.get(tid, found.get(0, []) if one else []) if not is_of_library(row)]
        if len(rows) < len(notes):
            faults.append(f"thread {tid}: {len(notes)} calls noted, {len(rows)} found")
            continue
        for number, (call, returned, position) in sorted(notes.items()):
            row = rows[number]
            if (row["call"], row["ret"]) != (call, returned):
                faults.append(f"thread {tid}, {number}: noted {call} = {returned}, found {row['call']} = {row['ret']}")
                break
            offset = row["offset"]
            if position not in ("end", "?"):
                all_of_them += 1
                known += offset is not None
            right = offset is None or (position not in ("end", "?") and int(position) == offset) or (position == "?")
            if not right:
                faults.append(f"thread {tid}, {number}: {call}(fd {row['fd']}, {row['path']}) = {returned}: began at {position}, offset {offset}, seq {row['seq']}")
    return faults, known, all_of_them


def run(mode, seed, steps, iotrail, program, work):
    command, kind, _ = MODES[mode]
    shutil.rmtree(work, ignore_errors=True)
    (work / "files").mkdir(parents=True)
    trail, trace, notes = work / "t.trail", work / "trace", work / "notes"
    words = [word.format(iotrail=iotrail, trail=trail, trace=trace) for word in command]
    done = subprocess.run([*words, program, str(seed), str(steps), kind, notes, work / "files"], capture_output=True, timeout=120)
    if done.returncode:
        return [f"the program ended with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}"], 0, 0
    if not trail.exists():
        inputs = sorted(work.glob("trace*"))
        subprocess.run([iotrail, "import", "-q", "-o", trail, *inputs], check=True)
    if mode == "chosen":
        rows = [row for rows in events(iotrail, trail).values() for row in rows]
        return [f"offset {row['offset']} of {row['call']}" for row in rows if row["offset"] is not None], 0, 0
    return compare(events(iotrail, trail), truth(notes), mode == "one", HOLDS.get(mode, lambda call: True))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("iotrail", type=Path)
    parser.add_argument("modes", nargs="*", metavar="MODE")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    iotrail = options.iotrail.resolve()
    directory = Path(tempfile.mkdtemp(prefix="offsets-"))
    program = compiled(directory)
    failed = False
    for mode in options.modes or MODES:
        count, wrong = Counter(), 0
        for seed in range(options.first, options.first + options.seeds):
            work = directory / f"{mode}-{seed}"
            faults, known, those = run(mode, seed, options.steps, iotrail, program, work)
            count.update(known=known, those=those)
            wrong += bool(faults)
            for fault in faults[:3] if wrong <= 3 else []:
                print(f"{mode}, seed {seed}: {fault}")
            if not (options.keep and faults):
                shutil.rmtree(work, ignore_errors=True)
        share = count["known"] / count["those"] if count["those"] else 0.0
        poor = count["those"] > 0 and share < MODES[mode][2]
        verdict = "wrong" if wrong else f"fewer than {MODES[mode][2]:.0%}" if poor else "right"
        print(f"{mode:16} {options.seeds} sequences, {count['those']} offsets, {share:.1%} known: {verdict}" + (f" in {wrong}" if wrong else ""), flush=True)
        failed |= bool(wrong) or poor
    if options.keep:
        print(directory)
    else:
        shutil.rmtree(directory, ignore_errors=True)
    return failed


if __name__ == "__main__":
    os.environ.pop("IOTRAIL", None)
    sys.exit(main())
