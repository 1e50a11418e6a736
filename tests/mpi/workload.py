"""Models of MPI programs, each under one of the libraries: recorded with three or four ranks, generated with eight, some with sixteen, also
under MPI and as a program in C, and compared with the program itself at as many, transfer by transfer.

usage: workload.py IOTRAIL [MODE ...]      each mode under one library, collective and named ones under both
"""
import collections
import csv
import io
import json
import sys
import tempfile
from pathlib import Path

from launch import LAUNCH, run

HERE = Path(__file__).resolve().parent
MODES = ("private", "segments", "strided", "again", "blocks", "root", "loader", "update", "ring", "token", "neighbours", "gather", "collective", "independent", "locked", "scan")
UNDER_MPI = ("private", "again", "root", "ring", "token", "collective", "independent", "locked", "scan")
# Modes whose requests are calls of MPI-IO; each library makes collective ones in a way of its own.
MPI_IO = ("collective", "independent")
BOTH = ("collective",)
RANKS = 8
# What is there before; who makes it writes it.
INPUT, INPUT_SIZE = "input", RANKS * 25 * 4096
UNKNOWN = "?"
MOST_UNKNOWN = 0.1
# Modes that are compared at sixteen ranks, too; ranks that wait for messages give their core to others.
WIDE = ("strided", "ring")
WIDE_RANKS = 16
WIDE_OPTIONS = ("--mca", "mpi_yield_when_idle", "1")

iotrail = Path(sys.argv[1]).resolve()
problems = []


def transfers(trail, directory):
    """How often each file beneath the directory is read and written at each place; of appended bytes the place is the file system's. Where
    threads open and close files at once, the recorder does not say each place (UNKNOWN)."""
    text = run(iotrail, "-q", "events", trail, "--csv", "--path", f"{directory}/**", "--layer", "syscall")
    counts, appended = collections.Counter(), set()
    for row in csv.DictReader(io.StringIO(text)):
        name = Path(row["path"]).relative_to(directory).as_posix()
        if row["call"] in ("openat", "openat2", "creat") and "O_APPEND" in row["flags"]:
            appended.add(name)
        kind = {"read": "read", "pread64": "read", "write": "write", "pwrite64": "write", "fsync": "sync"}.get(row["call"])
        if row["call"] == "flock":
            kind = row["flags"].removesuffix("|LOCK_NB")
            if row["errno"]:
                continue
        if kind and not name.startswith(".") and not (name == INPUT and kind == "write"):
            has_none = name in appended or kind == "sync" or row["call"] == "flock"
            place = None if has_none else int(row["offset"]) if row["offset"] else UNKNOWN
            counts[(name, kind, place, int(row["requested"] or 0))] += 1
    return counts


def mpi_io(trail, directory):
    """The same of calls of MPI-IO, and how often each call is made."""
    text = run(iotrail, "-q", "events", trail, "--csv", "--path", f"{directory}/**", "--layer", "mpiio")
    counts, calls = collections.Counter(), collections.Counter()
    for row in csv.DictReader(io.StringIO(text)):
        name = Path(row["path"]).relative_to(directory).as_posix()
        words = row["call"].removeprefix("MPI_File_").split("_")
        kind = words[0] if words[0] in ("read", "write", "sync") else None
        if kind:
            counts[(name, kind, None if kind == "sync" else int(row["offset"]), int(row["requested"] or 0))] += 1
        # A place that is not named is where the file stands.
        calls[" ".join(word for word in words if word != "at")] += 1
    return counts, calls


def writes(trail, directory):
    """When the writes of each rank to its own file begin and end, in order."""
    text = run(iotrail, "-q", "events", trail, "--json", "--path", f"{directory}/own.*", "--layer", "syscall")
    of_ranks = collections.defaultdict(list)
    for row in map(json.loads, text.splitlines()):
        if row["call"] in ("write", "pwrite64"):
            of_ranks[int(row["path"].rpartition(".")[2])].append((row["start_ns"], row["start_ns"] + row["dur"]))
    return [sorted(of_ranks[rank]) for rank in range(len(of_ranks))]


def before(mode, ranks, step):
    """Which writes, as rank and number, must have ended before a step, and which begin after them."""
    others = range(1, ranks)
    if mode == "token":
        turns = [(rank, step) for rank in range(ranks)] + [(0, step + 1)]
        return [([one], [next]) for one, next in zip(turns, turns[1:])]
    if mode == "neighbours":
        near = lambda rank: [other for other in (rank - 1, rank + 1) if 0 <= other < ranks]
        return [([(other, step) for other in near(rank)], [(rank, step + 1)]) for rank in range(ranks)]
    return [([(0, 3 * step)], [(rank, step) for rank in others]), ([(rank, step) for rank in others], [(0, 3 * step + 2)])]


def order(library, mode, ranks, how, trail, directory):
    """Whether writes wait for those of others as they do in the program."""
    times = writes(trail, directory)
    late = [
        (one, next)
        for step in range({"token": 4, "neighbours": 5, "gather": 3}[mode])
        for first, then in before(mode, len(times), step)
        for one in first
        for next in then
        if next[1] < len(times[next[0]]) and times[one[0]][one[1]][1] > times[next[0]][next[1]][0]
    ]
    if late or len(times) != RANKS:
        problems.append(f"{library}, {mode}, from {ranks} ranks, {how}: {len(times)} ranks, {len(late)} writes do not wait, as {late[:3]}")


def record(library, work, program, mode, ranks, *options):
    files = work / f"{mode}-{ranks}.files"
    files.mkdir()
    if mode == "scan":
        with open(files / INPUT, "wb") as file:
            file.truncate(INPUT_SIZE)
    trail = work / f"{mode}-{ranks}.trail"
    wide = WIDE_OPTIONS if ranks == WIDE_RANKS else ()
    run(*LAUNCH[library], *wide, "-n", ranks, iotrail, "-q", "record", *options, "-o", trail, "--", program, files, mode, cwd=work)
    return trail, files


def check(library, work, program, mode, ranks):
    if mode in MPI_IO:
        truth, calls = mpi_io(*record(library, work, program, mode, RANKS, "--mpi"))
        recorded = ("--mpi",)
    else:
        truth, calls, recorded = transfers(*record(library, work, program, mode, RANKS)), None, ()
    trail, files = record(library, work, program, mode, ranks, "--mpi")
    model = work / f"{mode}-{ranks}.toml"
    run(iotrail, "-q", "characterize", trail, "--path", f"{files}/**", "--names", "keep", "-o", model)
    scratch = work / f"{mode}-{ranks}.scratch"
    clone = work / f"{mode}-{ranks}.clone.trail"
    run(iotrail, "-q", "record", "-o", clone, "--", iotrail, "-q", "generate", model, "--dir", scratch, "--ranks", RANKS, "--asap")
    made = transfers(clone, scratch)
    compare(library, mode, ranks, "generated", truth, made)
    ordered = mode in ("token", "neighbours", "gather")
    if ordered:
        order(library, mode, ranks, "generated", clone, scratch)
    if mode in WIDE and library == "openmpi":
        wide, scratch, clone = record(library, work, program, mode, WIDE_RANKS), work / f"{mode}.wide", work / f"{mode}.wide.trail"
        run(iotrail, "-q", "record", "-o", clone, "--", iotrail, "-q", "generate", model, "--dir", scratch, "--ranks", WIDE_RANKS, "--asap")
        compare(library, mode, ranks, f"generated with {WIDE_RANKS}", transfers(*wide), transfers(clone, scratch))
    if mode in UNDER_MPI:
        scratch, clone = work / f"{mode}.scratch", work / f"{mode}.clone.trail"
        run(*LAUNCH[library], "-n", RANKS, iotrail, "-q", "record", *recorded, "-o", clone, "--", iotrail, "-q", "generate", model, "--dir", scratch, "--asap")
        same_under_mpi(library, mode, ranks, "generated under MPI", (truth, calls), (clone, scratch))
        if ordered:
            order(library, mode, ranks, "generated under MPI", clone, scratch)
        checked = json.loads(run(*LAUNCH[library], "-n", RANKS, iotrail, "-q", "generate", model, "--dir", scratch, "--asap", "--verify", "--json"))
        if checked["wrong_bytes"] or checked["missing_bytes"] or not checked["checked_bytes"]:
            problems.append(f"{library}, {mode}, {ranks} ranks: contents {checked}")
    source, program_of_model, own = work / f"{mode}-{ranks}.c", work / f"{mode}-{ranks}.app", work / f"{mode}-{ranks}.own"
    run(iotrail, "-q", "export", "c", model, "-o", source)
    run(f"mpicc.{library}", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program_of_model, source)
    own.mkdir()
    trail = work / f"{mode}-{ranks}.own.trail"
    run(*LAUNCH[library], "-n", RANKS, iotrail, "-q", "record", *recorded, "-o", trail, "--", program_of_model, "-a", own, cwd=work)
    same_under_mpi(library, mode, ranks, "as a program", (truth, calls), (trail, own))
    if ordered:
        order(library, mode, ranks, "as a program", trail, own)
    size = model.stat().st_size
    if size > 16 << 10:
        problems.append(f"{library}, {mode}: a model of {size} bytes")
    print(f"{library:8} {mode:9} {ranks} ranks: a model of {size} bytes, {sum(truth.values())} requests at {RANKS} ranks")


def same_under_mpi(library, mode, ranks, how, known, recording):
    truth, calls = known
    if calls is None:
        return compare(library, mode, ranks, how, truth, transfers(*recording))
    made, made_calls = mpi_io(*recording)
    compare(library, mode, ranks, how, truth, made)
    if made_calls != calls:
        problems.append(f"{library}, {mode}, from {ranks} ranks, {how}: calls {dict(made_calls)}, not {dict(calls)}")


def compare(library, mode, ranks, how, truth, made):
    missing, more = truth - made, made - truth
    unknown = sum(count for (_, _, place, _), count in more.items() if place == UNKNOWN)
    if unknown > MOST_UNKNOWN * sum(made.values()):
        problems.append(f"{library}, {mode}, from {ranks} ranks, {how}: the places of {unknown} requests are not known")
    for name, kind, place, size in [key for key in more if key[2] == UNKNOWN]:
        for key in [key for key in missing if (key[0], key[1], key[3]) == (name, kind, size)]:
            known = min(missing[key], more[name, kind, place, size])
            missing[key] -= known
            more[name, kind, place, size] -= known
    missing, more = +missing, +more
    if missing or more:
        problems.append(f"{library}, {mode}, from {ranks} ranks, {how}: missing {dict(missing.most_common(3))}, too many {dict(more.most_common(3))}")


def main():
    chosen = sys.argv[2:]
    for turn, library in enumerate(LAUNCH):
        modes = [mode for at, mode in enumerate(MODES) if mode in chosen or not chosen and (mode in BOTH or at % len(LAUNCH) == turn)]
        with tempfile.TemporaryDirectory() as directory:
            work = Path(directory)
            program = work / "workload"
            run(f"mpicc.{library}", "-O1", "-Wall", "-Werror", "-o", program, HERE / "workload.c")
            for number, mode in enumerate(modes):
                check(library, work, program, mode, 3 + number % 2)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
