#!/usr/bin/env python3
"""Random walks over links, `..`, roots, mounts and renamed directories: every recorded name is the one that the kernel resolved.

run.py IOTRAIL [--seeds N] [--steps N] [--first SEED] [--keep DIRECTORY]

`tests/programs/places.c` finds out before each call where its paths lead and notes it. A recorded name must be that one; in
another mount namespace also the name of the same file in the first, or the name with the mark of its namespace.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "programs" / "places.c"
MODES = {0: "links", 1: "roots", 2: "mounts", 3: "mounts and roots", 4: "user namespaces", 5: "user namespaces and roots"}
MARK = 100_000
CANNOT = 77
DELETED = " (deleted)"


def bare(name):
    return name.removesuffix(DELETED)


def text(hexadecimal):
    return bytes.fromhex(hexadecimal).decode()


def allowed(note, which):
    """The names that a path may have; none if the kernel did not resolve it."""
    if which not in note:
        return set()
    name = text(note[which])
    names = {name, bare(name)}
    odd = note.get(which.replace("path", "odd"))
    if note["space"] or odd:
        hosts = {text(note[key]) for key in (f"{which.replace('path', 'host')}{number}" for number in range(16)) if key in note}
        # A mount that is attached nowhere has a number, too.
        marks = ([f"[{note['space']}]"] if note["space"] else []) + (["[*]"] if odd else [])
        names = hosts | {f"/mnt:{mark}{name.removesuffix('/')}" for mark in marks for name in names}
    return names


def unnumbered(name):
    return re.sub(r"^/mnt:\[\d+\]", "/mnt:[*]", name)


class Trial:
    def __init__(self, iotrail, program, seed, steps, keep):
        self.iotrail, self.program, self.seed, self.steps = iotrail, program, seed, steps
        self.mode = seed % len(MODES)
        self.directory = Path(keep or tempfile.mkdtemp(prefix="iotrail-names-"))
        self.counts = Counter()
        self.wrong = []

    def run(self):
        work, notes, trail = (self.directory / name for name in ("w", "notes", "t.trail"))
        work.mkdir(parents=True)
        command = [self.iotrail, "record", "-q", "-o", trail, "--", self.program, notes, work, self.seed, self.steps, self.mode]
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        if done.returncode == CANNOT:
            self.counts["not possible here"] += 1
            return
        if done.returncode != 0:
            raise SystemExit(f"seed {self.seed}: exit {done.returncode}\n{done.stderr}")
        self.compare([json.loads(line) for line in notes.read_text().splitlines()], self.events(trail), self.info(trail))

    def events(self, trail):
        out = subprocess.run([self.iotrail, "events", trail, "--json"], check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in out.splitlines()]

    def info(self, trail):
        out = subprocess.run([self.iotrail, "info", trail, "--json"], check=True, capture_output=True, text=True).stdout
        return json.loads(out)["coverage"]["recording"]

    def compare(self, notes, rows, coverage):
        threads = {}
        for row in rows:
            threads.setdefault(row["tid"], []).append(row)
        calls = {}
        for own in threads.values():
            for row, following in zip(own, own[1:]):
                if row["call"] == "close" and row["errno"] == "EBADF" and (row["fd"] or 0) >= MARK:
                    calls[row["fd"] - MARK] = following
        unresolved = foreign = 0
        for note in notes:
            row = calls.get(note["step"])
            if row is None or row["call"] != note["call"]:
                self.wrong.append(f"{note} was recorded as {row}")
                continue
            for which in ("path", "path2"):
                names = allowed(note, which)
                recorded = row[which]
                # The event of a descriptor keeps the name that was opened; what is relative to it is tested.
                if not names or note["call"] == "fchdir":
                    continue
                if recorded in names or (recorded and unnumbered(recorded) in names) or (note["space"] and text(note[which]).endswith(DELETED)):
                    self.counts["right"] += 1
                    foreign += recorded.startswith("/mnt:[")
                elif recorded is None:
                    unresolved += 1
                else:
                    self.wrong.append(f"step {note['step']} {note['call']}({text(note['text'])}) {row['errno'] or ''}: {which} {recorded}, not {names}")
        self.counts["unknown"] += unresolved
        self.counts["of another namespace"] += foreign
        if coverage["foreign_names"] < foreign:
            self.wrong.append(f"{foreign} names of another namespace, counted {coverage['foreign_names']}")
        if unresolved > coverage["unresolved_paths"]:
            self.wrong.append(f"{unresolved} names unknown, counted {coverage['unresolved_paths']}")
        self.counts["by their letters"] += coverage["unresolved_paths"]


INSIDE = """
import os, time
file = os.open("file", os.O_RDWR | os.O_CREAT)
print(os.getpid(), flush=True)
while True:
    os.pwrite(file, b"x", 0)
    os.access("none", 0)
    time.sleep(0.01)
"""


def attached(iotrail):
    """A process of another mount namespace that is attached to: what it opened before has no name here."""
    with tempfile.TemporaryDirectory() as place:
        words = f"mount -t tmpfs none '{place}' && cd '{place}' && exec {sys.executable} -c '{INSIDE}'"
        inside = subprocess.Popen(["unshare", "-m", "sh", "-c", words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        pid = inside.stdout.readline().strip()
        if not pid:
            inside.wait()
            return "attached: not possible here", 0
        trail = Path(place) / "t.trail"
        since = time.time_ns()
        recorder = subprocess.Popen([iotrail, "-q", "record", "-o", trail, "-p", pid])
        events = []
        for _ in range(200):
            time.sleep(0.05)
            done = subprocess.run([iotrail, "events", trail, "--json"], capture_output=True, text=True)
            events = [json.loads(line) for line in done.stdout.splitlines()]
            if len(events) > 10:
                break
        space = os.stat(f"/proc/{pid}/ns/mnt").st_ino
        recorder.send_signal(signal.SIGINT)
        recorder.wait(60)
        inside.kill()
        inside.wait()
        inside.stdout.close()
        done = subprocess.run([iotrail, "processes", trail, "--json"], capture_output=True, text=True, check=True)
        starts = [row["start"] for row in map(json.loads, done.stdout.splitlines())]
    expected = {f"/mnt:[{space}]{os.path.realpath(place)}/{name}" for name in ("file", "none")}
    wrong = [row["path"] for row in events if row["path"] and row["path"] not in expected]
    if not events or wrong:
        print(f"attached: {wrong[:3] or 'no event'}, not {expected}")
    early = [start for start in starts if start < since]
    if early or not starts:
        print(f"attached: {starts}, recorded since {since}")
    return f"attached: {len(events) - len(wrong)} right", len(wrong) + len(early) or int(not events or not starts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("iotrail")
    parser.add_argument("--seeds", type=int, default=18)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--keep")
    options = parser.parse_args()
    bad = 0
    sums = {mode: Counter() for mode in MODES}
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "places"
        subprocess.run(["cc", "-O1", "-w", "-o", program, PROGRAM], check=True)
        os.chmod(place, 0o755)
        for seed in range(options.first, options.first + options.seeds):
            trial = Trial(os.path.abspath(options.iotrail), program, seed, options.steps, options.keep)
            try:
                trial.run()
            finally:
                if not options.keep:
                    shutil.rmtree(trial.directory, ignore_errors=True)
            sums[trial.mode] += trial.counts
            for wrong in trial.wrong[:5]:
                print(f"seed {seed} ({MODES[trial.mode]}): {wrong}")
            bad += len(trial.wrong)
    for mode, counts in sums.items():
        if counts:
            print(f"{MODES[mode]}: " + ", ".join(f"{number} {what}" for what, number in counts.items()))
    said, wrong = attached(os.path.abspath(options.iotrail))
    print(said)
    bad += wrong
    if bad:
        sys.exit(f"{bad} names are wrong")


if __name__ == "__main__":
    main()
