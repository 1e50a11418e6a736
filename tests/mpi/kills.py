"""Ranks, recorders and whole jobs are killed at random moments: every call of MPI that had returned is in the trail, but for those since the last
system call of a rank whose recorder was killed. What killed recorders left in memory is removed by the next one.

usage: kills.py IOTRAIL [KILLS [SEED]]
"""
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from launch import LAUNCH

HERE = Path(__file__).resolve().parent
RANKS = 2
# Calls after which the program makes a system call.
UNTOLD = 50
CALLS = ("MPI_Iprobe", "MPI_Allreduce", "MPI_Sendrecv")


def processes(root):
    """A process and all below it: number, name of the program, number of the parent."""
    names, parents = {}, {}
    for entry in Path("/proc").iterdir():
        try:
            text = (entry / "stat").read_text() if entry.name.isdigit() else ""
        except OSError:
            continue
        if text:
            number = int(entry.name)
            names[number] = text[text.index("(") + 1:text.rindex(")")]
            parents[number] = int(text[text.rindex(")") + 2:].split()[1])

    def is_below(number):
        while number not in (0, root):
            number = parents.get(number, 0)
        return number == root
    return [(number, name, parents[number]) for number, name in names.items() if is_below(number)]


def made_by(counts):
    """How many calls each rank has made."""
    def of(rank):
        path = counts / str(rank)
        found = path.read_bytes() if path.exists() else b""
        return struct.unpack("=Q", found)[0] if len(found) == 8 else 0
    return [of(rank) for rank in range(RANKS)]


def kill(who):
    for process in who:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main():
    iotrail = Path(sys.argv[1]).resolve()
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 7)
    problems, acknowledged, seen = [], 0, Counter()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for library in LAUNCH:
            subprocess.run([f"mpicc.{library}", "-O1", "-o", f"acknowledged.{library}", str(HERE / "acknowledged.c")], check=True)
        for number in range(kills):
            library = list(LAUNCH)[number % len(LAUNCH)]
            what = ("a rank", "a recorder", "all")[number // 2 % 3]
            trail, counts = Path(f"{number}.trail"), Path(f"{number}.counts")
            counts.mkdir()
            program = f"acknowledged.{library}"
            job = subprocess.Popen(
                [*LAUNCH[library], "-n", str(RANKS), str(iotrail), "-q", "record", "--mpi", "-o", str(trail), "--", f"./{program}", str(counts)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            limit = time.monotonic() + 60
            while not all(made_by(counts)) and time.monotonic() < limit:
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 0.3))
            there = processes(job.pid)
            by_name = {
                "a rank": [process for process, name, _ in there if name == program[:15]],
                "a recorder": [parent for _, name, parent in there if name == program[:15]],
                "all": [process for process, _, _ in there],
            }
            chosen = by_name[what]
            kill(chosen if what == "all" else draw.sample(chosen, min(1, len(chosen))))
            try:
                job.wait(30)
            except subprocess.TimeoutExpired:
                problems.append(f"{number}: {what} under {library}: the job goes on")
            time.sleep(0.2)
            kill(process for process, _, _ in there)
            job.wait()
            made = made_by(counts)
            subprocess.run([str(iotrail), "-q", "recover", str(trail)], capture_output=True, check=False)
            shown = subprocess.run([str(iotrail), "-q", "events", str(trail), "--csv", "--layer", "mpi"], capture_output=True, text=True, check=False)
            kept = Counter()
            for line in shown.stdout.splitlines():
                fields = line.split(",")
                if any(call in fields for call in CALLS):
                    kept[fields[3]] += 1
            # The launcher of MPICH kills all others at once, the recorders among them.
            untold = 0 if (what, library) == ("a rank", "openmpi") else UNTOLD
            if not chosen:
                problems.append(f"{number}: nobody to kill")
            for rank in range(RANKS):
                if untold + kept[str(rank)] < made[rank]:
                    problems.append(f"{number}: {what} under {library}: rank {rank} made {made[rank]} calls, the trail has {kept[str(rank)]} {shown.stderr.strip()}")
            left = [entry for entry in Path("/dev/shm").glob("iotrail-*") if time.time() - entry.stat().st_mtime > 100]
            if left:
                problems.append(f"{number}: {left[0]} stays")
            acknowledged += sum(made)
            seen[what] += 1
    for problem in problems:
        print(f"FAILED  {problem}")
    print(f"{kills} kills ({', '.join(f'{count} of {what}' for what, count in seen.items())}): {acknowledged} calls were acknowledged, {len(problems)} problems")
    sys.exit(bool(problems) or not acknowledged)


if __name__ == "__main__":
    main()
