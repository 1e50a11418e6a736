"""`iotrail why` of an MPI program in which one rank comes late: all ranks are one run, and it is that rank that they wait for.

usage: late.py IOTRAIL
"""
import json
import sys
import tempfile
from pathlib import Path

from launch import LAUNCH, run

HERE = Path(__file__).resolve().parent
RANKS, LATE, ROUNDS, SLEEP_NS = 4, 2, 5, 60_000_000

iotrail = Path(sys.argv[1]).resolve()


def check(library, work):
    run(f"mpicc.{library}", "-O1", "-Wall", HERE / "late.c", "-o", "late", cwd=work)
    run(*LAUNCH[library], "-n", RANKS, iotrail, "-q", "record", "--mpi", "-o", "t.trail", "--", "./late", cwd=work)
    why = json.loads(run(iotrail, "why", "t.trail", "--json", cwd=work))
    [trail] = why["trails"]
    [all_ranks] = trail["runs"]
    pieces = {(piece["kind"], piece["call"]): piece["time_ns"] for piece in all_ranks["pieces"]}
    waits = {row["by"]: row for row in all_ranks["waits"] if row["cause"] == "mpi"}
    late = waits[f"late rank {LATE}"]
    slept = sum(time for (kind, _), time in pieces.items() if kind == "sleep")
    checks = {
        "pieces add up": sum(piece["time_ns"] for piece in all_ranks["pieces"]) == all_ranks["elapsed_ns"],
        "MPI begins and ends": any(kind == "mpi" for kind, _ in pieces),
        "the sleep is on the path": ROUNDS * SLEEP_NS <= slept <= 1.5 * ROUNDS * SLEEP_NS,
        "three ranks wait for it five times": late["in_all"]["number"] == ROUNDS * (RANKS - 1),
        "as long as it sleeps": late["in_all"]["time_ns"] >= (RANKS - 1) * (ROUNDS - 1) * SLEEP_NS,
        "nobody is waited for longer": max(waits.values(), key=lambda row: row["in_all"]["time_ns"]) is late,
    }
    wrong = [what for what, holds in checks.items() if not holds]
    if wrong:
        sys.exit(f"{library}: not so: {', '.join(wrong)}\n{json.dumps(all_ranks, indent=1)}")
    print(f"{library:8} {all_ranks['elapsed_ns'] / 1e6:.0f} ms, {slept / 1e6:.0f} ms of them the late rank's sleep")


with tempfile.TemporaryDirectory() as folder:
    for library in LAUNCH:
        work = Path(folder, library)
        work.mkdir()
        check(library, work)
