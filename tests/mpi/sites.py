"""Where MPI calls are made: what the comments in the sources say, and what call sites say.

usage: sites.py IOTRAIL
"""
import csv
import io
import json
import re
import sys
import tempfile
from pathlib import Path

from launch import LAUNCH, run

HERE = Path(__file__).resolve().parent
CALL = re.compile(r"\b(MPI_[A-Z][a-z_]+[a-z])\(.*[/!]\*? ([\w:]+(?: < [\w:]+)*)(?: \*/)?$")
# Source, compiler, options.
PROGRAMS = [
    ("sites.c", "mpicc", ["-O0", "-g"]),
    ("sites.c", "mpicc", ["-O2", "-g", "-fomit-frame-pointer"]),
    ("sites_f08.f90", "mpif90", ["-O2", "-g"]),
    ("sites_mpif.f", "mpif90", ["-O2", "-g", "-ffixed-line-length-none"]),
    ("sites_mpif.f", "mpif90", ["-O0", "-g", "-ffixed-line-length-none"]),
]

iotrail = Path(sys.argv[1]).resolve()


def expected_of(source):
    """Call, line and stack of each place, as the comments say."""
    found = set()
    for number, text in enumerate((HERE / source).read_text().splitlines(), 1):
        if match := CALL.search(text):
            found.add((match[1], number, match[2]))
    return found


def calls_of(items):
    """Calls of a structure, wherever they are."""
    for item in items:
        if item["call"] and item["call"]["layer"].startswith("mpi"):
            yield item["call"], item["count"]["sum"]
        yield from calls_of(item["body"])


def found_in(structure, source, cwd):
    """The same as the structure says; places that no comment is about are left out."""
    outline = json.loads(run(iotrail, "structure", structure, "--json", "--layer", "all", cwd=cwd))
    found, tail = set(), 0
    for call, count in calls_of(outline["body"]):
        frames = call.get("site")
        if not frames:
            sys.exit(f"{structure}: {call['name']} has no site")
        first = frames[0]
        if call["name"] == "MPI_Comm_size":
            tail += count
            if first["function"] not in ("last", "main"):
                sys.exit(f"{structure}: the last call of a function is one of {first['function']}")
            continue
        if Path(first["file"]).name != source:
            sys.exit(f"{structure}: {call['name']} is called in {first['file']}")
        stack = [frame["function"] for frame in frames]
        # Compilers of Fortran make a `main` that calls the program, or is it.
        if source != "sites.c" and stack[1:] and stack[-1] == "main":
            stack.pop()
        found.add((call["name"], first["line"], " < ".join(stack)))
    return found


def sites_by_rank(trail, cwd):
    """By rank, how often each site was called from."""
    rows = csv.DictReader(io.StringIO(run(iotrail, "events", trail, "--layer", "mpi", "--csv", cwd=cwd)))
    by_rank = {}
    for row in rows:
        of_rank = by_rank.setdefault(row["rid"], {})
        of_rank[row["site"]] = of_rank.get(row["site"], 0) + 1
    return by_rank


def check(library, launch, program, work):
    source, compiler, options = program
    what = f"{library}, {source} {' '.join(options)}"
    run(f"{compiler}.{library}", *options, HERE / source, "-o", "program", cwd=work)
    record = [*launch, "-n", 2, iotrail, "-q", "record", "--mpi"]
    run(*record, "--stack", 16, "-o", "a.trail", "--", "./program", cwd=work)
    run(*record, "--stack", 16, "-o", "b.trail", "--", "./program", cwd=work)
    run(*record, "-o", "none.trail", "--", "./program", cwd=work)
    run(*record, "--stack", 16, "-o", "one.trail", "--", "./program", cwd=work)
    run(*record, "--stack", 1, "--force", "-o", "one.trail", "--", "./program", cwd=work)
    for trail in ["a", "b", "none", "one"]:
        run(iotrail, "check", f"{trail}.trail", cwd=work)
        run(iotrail, "-q", "compress", f"{trail}.trail", "-o", f"{trail}.structure", "--force", cwd=work)
    expected = expected_of(source)
    found = found_in("a.structure", source, work)
    if found != expected:
        sys.exit(f"{what}: only in the source: {sorted(expected - found)}, only in the trail: {sorted(found - expected)}")
    innermost = {(call, line, stack.split(" < ")[0]) for call, line, stack in expected}
    if (found := found_in("one.structure", source, work)) != innermost:
        sys.exit(f"{what}, one frame: {sorted(found ^ innermost)}")
    first, second = (sites_by_rank(trail, work) for trail in ["a.trail", "b.trail"])
    if first != second or first["0"] != first["1"]:
        sys.exit(f"{what}: sites differ between ranks or runs: {first}, {second}")
    if any(set(of_rank) != {""} for of_rank in sites_by_rank("none.trail", work).values()):
        sys.exit(f"{what}: sites without stacks")
    if sites_by_rank("a.structure", work) != first:
        sys.exit(f"{what}: the structure has other sites than the trail")
    info = json.loads(run(iotrail, "info", "a.trail", "--json", cwd=work))
    if info["sites"] != len(set(first["0"]) | set(first["1"])):
        sys.exit(f"{what}: info says {info['sites']} sites")
    return len(expected)


with tempfile.TemporaryDirectory() as directory:
    for library, launch in LAUNCH.items():
        places = 0
        for number, program in enumerate(PROGRAMS):
            work = Path(directory) / f"{library}-{number}"
            work.mkdir()
            places += check(library, launch, program, work)
        print(f"{library}: {places} places of calls in {len(PROGRAMS)} programs as their sources say")
