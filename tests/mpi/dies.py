"""A rank of `mpirun -n 3 iotrail generate` is killed, under both libraries: all ranks end, with an error, nothing outside the directory is
changed, and nothing is left after --clean.

usage: dies.py IOTRAIL
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from launch import LAUNCH, run

RANKS, TURNS = 3, 2
# Seconds.
MOST, READY = 30, 20
iotrail = Path(sys.argv[1]).resolve()
problems = []


def expect(what, holds, seen=""):
    if not holds:
        problems.append(f"{what}: {seen}")


def below(pid):
    """The processes that a process has started, theirs included."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [one for child in children for one in [int(child), *below(int(child))]]


def ranks(launcher):
    """The processes of the ranks, in the order of their numbers."""
    found = []
    for pid in below(launcher.pid):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [os.fsencode(iotrail), b"generate"]:
            found.append(pid)
    return found


def state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def kill_one(library, model, work, turn):
    what = f"{library}, {model.stem}, rank {turn % RANKS}"
    scratch = work / "scratch"
    before = {path: path.read_bytes() for path in work.iterdir() if path.is_file()}
    words = [*LAUNCH[library], "-n", RANKS, iotrail, "generate", model, "--dir", scratch, "--asap"]
    launcher = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=work)
    deadline = time.monotonic() + READY
    made = lambda: scratch.exists() and len(list(scratch.iterdir())) > 1
    while launcher.poll() is None and time.monotonic() < deadline and not (made() and len(ranks(launcher)) == RANKS):
        time.sleep(0.01)
    alive = ranks(launcher)
    if len(alive) != RANKS:
        launcher.kill()
        return expect(f"{what}: ranks to be killed", False, f"{alive} {launcher.communicate()[1][-300:]}")
    time.sleep(random.Random(turn).uniform(0, 0.5))
    os.kill(alive[turn % RANKS], signal.SIGKILL)
    try:
        _, said = launcher.communicate(timeout=MOST)
    except subprocess.TimeoutExpired:
        launcher.kill()
        [os.kill(pid, signal.SIGKILL) for pid in alive if state(pid)]
        return expect(f"{what}: ends", False, f"not within {MOST} s")
    expect(f"{what}: ends with an error", launcher.returncode != 0, said[-300:])
    deadline = time.monotonic() + 10
    while any(state(pid) not in (None, "Z") for pid in alive) and time.monotonic() < deadline:
        time.sleep(0.05)
    expect(f"{what}: no rank is left", all(state(pid) in (None, "Z") for pid in alive), [state(pid) for pid in alive])
    cleaned = subprocess.run([iotrail, "generate", "--clean", "--dir", scratch], capture_output=True, text=True)
    expect(f"{what}: clean", cleaned.returncode == 0, cleaned.stderr)
    expect(f"{what}: nothing left", not scratch.exists() or not list(scratch.iterdir()), cleaned.stdout)
    expect(f"{what}: outside", before == {path: path.read_bytes() for path in work.iterdir() if path.is_file()})


def main():
    with tempfile.TemporaryDirectory(prefix="dies-") as directory:
        work = Path(directory).resolve()
        for template in ("checkpoint", "shared-collective"):
            model = work / f"{template}.toml"
            run(iotrail, "-q", "workload", "--template", template, "--scale", "size=0.0625", "-o", model)
            head, _, steps = model.read_text().partition("[program]\nsteps = ")
            model.write_text(f"{head}[program]\nsteps = [{{ repeat = 2000, steps = {steps.strip()} }}]\n")
        for library in LAUNCH:
            for turn in range(TURNS):
                for template in ("checkpoint", "shared-collective"):
                    kill_one(library, work / f"{template}.toml", work, turn)
    print("\n".join(problems))
    print(f"{len(LAUNCH) * TURNS * 2} runs with a rank that dies: {len(problems)} problems")
    sys.exit(bool(problems))


main()
