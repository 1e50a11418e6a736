"""Threads that open, close, replace and read each other's descriptors: what a recording and an imported trace say of a read, the file and the
offset, is what the program saw in the bytes that it read, or nothing (but for very few: RARE). Each name is that of one file throughout.

usage: race.py IOTRAIL        (cc and strace)
"""

import collections
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STEPS, SEEDS, MODES = 3000, (1, 2), (0, 1, 2)
# Of calls that no other thread disturbed the file is known: most of them, even here.
KNOWN = 0.8
# The tracer sees the threads one after the other: a schedule that nobody has thought of may come by. It was one read in a hundred once.
RARE = 0.00005


def main():
    iotrail = pathlib.Path(sys.argv[1]).resolve()
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        program = work / "race"
        run("cc", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "race.c")
        for seed in SEEDS:
            for mode in MODES:
                words = (program, STEPS, seed, mode)
                for how, make in (("recorded", recorded), ("traced", traced)):
                    trail = work / f"{how}-{seed}-{mode}.trail"
                    make(iotrail, work, trail, words)
                    rows = events(iotrail, trail)
                    total += compare(how, work, rows)
                    one_to_one(f"{how}, seed {seed}, mode {mode}", rows)
    print(", ".join(f"{what}: {count}" for what, count in sorted(total.items())))
    for how in ("recorded", "traced"):
        wrong = total[f"{how}, wrong file"] + total[f"{how}, wrong offset"]
        assert wrong <= RARE * total[f"{how}, reads"], f"{how}: {wrong} reads with a wrong file or offset"
        assert total[f"{how}, file known"] > KNOWN * total[f"{how}, reads"], f"{how}: too little is known"


def recorded(iotrail, work, trail, words):
    run(iotrail, "-q", "record", "-o", trail, "--", *words, cwd=work)


def traced(iotrail, work, trail, words):
    text = trail.with_suffix(".st")
    run("strace", "-f", "-ttt", "-T", "-o", text, *words, cwd=work)
    run(iotrail, "-q", "import", "-o", trail, text)


def events(iotrail, trail):
    return list(csv.DictReader(io.StringIO(run(iotrail, "-q", "events", trail, "--csv"))))


def compare(how, work, rows):
    """Reads of each thread in their order, beside what it found in the bytes: the number of the file, and where they lay in it."""
    truth, seen = collections.defaultdict(list), collections.defaultdict(list)
    for line in (work / "truth.txt").read_text().splitlines():
        tid, fd, file, offset = map(int, line.split())
        truth[tid].append((fd, file, offset))
    for row in sorted(rows, key=lambda row: int(row["start_ns"])):
        if row["call"] == "read" and int(row["tid"]) in truth:
            seen[int(row["tid"])].append(row)
    counts = collections.Counter()
    for tid, reads in truth.items():
        assert len(reads) == len(seen[tid]), f"{how}: thread {tid} made {len(reads)} reads, {len(seen[tid])} are there"
        for (fd, file, offset), row in zip(reads, seen[tid]):
            assert int(row["fd"]) == fd
            if file < 0:
                continue
            name = row["path"].rsplit("/", 1)[-1]
            counts[f"{how}, reads"] += 1
            counts[f"{how}, file known"] += name != ""
            counts[f"{how}, offset known"] += row["offset"] != ""
            counts[f"{how}, wrong file"] += name not in ("", f"f{file}")
            counts[f"{how}, wrong offset"] += row["offset"] not in ("", str(offset))
    return counts


def one_to_one(how, rows):
    """Nobody renames or removes a file: each has one number and one name."""
    pairs = {(row["path"].rsplit("/", 1)[-1], row["file"]) for row in rows if row["file"]}
    pairs = {(name, file) for name, file in pairs if name[:1] == "f" and name[1:].isdigit()}
    for place in (0, 1):
        assert len({pair[place] for pair in pairs}) == len(pairs), f"{how}: names and files {sorted(pairs)}"


def run(*words, cwd=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stderr}"
    return done.stdout


main()
