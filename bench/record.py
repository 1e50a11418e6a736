"""What recording costs: the same work untraced, under strace and under `iotrail record`, in alternating runs.

usage: record.py IOTRAIL [--montage DIRECTORY] [--runs N] [--explain] [--free] [WORKLOAD...]

Workloads: preads, files, unselected, python (its start), busy (one thread that computes and reads), pipeline, make, make-j2, ranks (two
recorders, of two ranks that wait for each other by spinning), threads (200), processes (many short ones), montage (a directory with a
Makefile, made by somebody else; it is copied for each run). Each is run pinned to one core and not pinned; --free: only that. CPU seconds are user + system of the whole tree, memory is that of its largest
process; figures are medians, ratios are medians of the ratios of neighbouring runs. --explain: where the recorder's time goes.
Results are printed and left in bench/out/record.tsv.
"""
import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PREADS, UNSELECTED, FILES = 200_000, 1_000_000, 10_000


class Workload:
    def __init__(self, name, command, prepare=lambda place: None):
        self.name, self.command, self.prepare = name, command, prepare

    def words(self, prefix):
        return [*prefix, *self.command]


class Ranks(Workload):
    """Two commands side by side, each with a recorder of its own."""

    def words(self, prefix):
        both = [" ".join(shlex.quote(str(word).replace("OUT", f"OUT-{rank}")) for word in [*prefix, *self.command[:2], rank, *self.command[2:]])
                for rank in (0, 1)]
        return ["sh", "-c", f"{both[0]} & {both[1]}; wait $!"]


def sources(place, number=12):
    """A directory in which make compiles some files."""
    names = [f"part{one}" for one in range(number)]
    for name in names:
        (place / f"{name}.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + "".join(
            f"int {name}_{one}(int x) {{ char t[64]; snprintf(t, sizeof t, \"%d\", x + {one}); return atoi(t) + (int)strlen(t); }}\n" for one in range(60)))
    (place / "Makefile").write_text(f"all: {' '.join(name + '.o' for name in names)}\n\tar rcs lib.a $^\n%.o: %.c\n\tcc -O1 -c -o $@ $<\n")


BUSY = "import hashlib\nfor i in range(3000):\n    hashlib.sha256(open('/proc/self/exe', 'rb').read(20000) * 4).digest()\n"


def workloads(scratch, montage):
    for name in ("preads", "unselected", "threads", "ranks", "floor"):
        subprocess.run(["cc", "-O2", "-pthread", "-o", scratch / name, HERE / "record" / f"{name}.c"], check=True)
    (scratch / "data").write_bytes(bytes(1 << 20))
    yield Workload("preads", [scratch / "preads", scratch / "data", PREADS])
    yield Workload("unselected", [scratch / "unselected", UNSELECTED])
    yield Workload("files", ["sh", "-c", f"seq -f d/%g 1 {FILES} | xargs touch; find d -type f -size 0 | wc -l; tar cf d.tar d; rm -rf d d.tar"],
                   lambda place: (place / "d").mkdir())
    yield Workload("python", ["python3", "-c", "import json, subprocess, email.message, http.client"])
    yield Workload("busy", ["python3", "-c", BUSY])
    yield Workload("pipeline", ["sh", "-c", f"cat {' '.join([str(scratch / 'data')] * 60)} | gzip -1 | wc -c"])
    yield Workload("make", ["make", "-s"], sources)
    yield Workload("make-j2", ["make", "-s", "-j2"], sources)
    yield Ranks("ranks", [scratch / "ranks", "shared", 1500])
    yield Workload("threads", [scratch / "threads", scratch / "data", 200, 60])
    yield Workload("processes", ["sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done"])
    if montage:
        yield Workload("montage", ["make", "-s", "-j2"], lambda place: shutil.copytree(montage, place, dirs_exist_ok=True))


def tools(iotrail, scratch):
    return {
        "untraced": [],
        "two stops a call, nothing asked": [scratch / "floor", "OUT"],
        "strace -f": ["strace", "-f", "-o", "OUT"],
        "strace -f --seccomp-bpf": ["strace", "-f", "--seccomp-bpf", "-e", "trace=%file,%desc,%process,%network", "-o", "OUT"],
        "iotrail record": [iotrail, "-q", "record", "-o", "OUT", "--"],
        "iotrail record --placement same": [iotrail, "-q", "record", "--placement", "same", "-o", "OUT", "--"],
        "iotrail record --placement free": [iotrail, "-q", "record", "--placement", "free", "-o", "OUT", "--"],
    }


class Run:
    """One run of a workload under a tool."""

    def __init__(self, iotrail, scratch, workload, prefix, pinned):
        place, out = scratch / "place", scratch / "out.trail"
        for old in (place, *scratch.glob("out.trail*")):
            shutil.rmtree(old, ignore_errors=True) if old.is_dir() else old.unlink(missing_ok=True)
        place.mkdir()
        workload.prepare(place)
        words = [str(word).replace("OUT", str(out)) for word in [*(["taskset", "-c", "0"] if pinned else []), *workload.words(prefix)]]
        started = time.monotonic()
        process = subprocess.Popen(words, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(words)} ended with {process.returncode}: {said.decode()}")
        self.elapsed = time.monotonic() - started
        self.user, self.system = usage.ru_utime, usage.ru_stime
        self.cpu, self.memory, self.switches = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, usage.ru_nvcsw + usage.ru_nivcsw
        self.events = self.bytes = 0
        if out.is_dir():
            self.events = json.loads(subprocess.run([iotrail, "info", "--json", out], check=True, capture_output=True).stdout)["events"]
            self.bytes = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        elif out.exists():
            self.events, self.bytes = sum(1 for _ in open(out, "rb")), out.stat().st_size


def median(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def measure(iotrail, scratch, workload, pinned, count, report):
    every = tools(iotrail, scratch)
    runs = {name: [] for name in every}
    for _ in range(count):
        for name, prefix in every.items():
            runs[name].append(Run(iotrail, scratch, workload, prefix, pinned))
    for name, own in runs.items():
        ratios = [statistics.median(a.cpu / b.cpu for a, b in zip(own, runs[other])) for other in ("untraced", "strace -f", "strace -f --seccomp-bpf")]
        events, size = median(own, "events"), median(own, "bytes")
        report(workload.name, "one core" if pinned else "free", name, f"{median(own, 'cpu'):.3f}", f"{median(own, 'elapsed'):.3f}", *(f"{ratio:.2f}" for ratio in ratios),
               f"{median(own, 'memory'):.0f}", f"{events:.0f}", f"{size / events:.1f}" if events else "", f"{median(own, 'switches'):.0f}")


def explain(iotrail, scratch, workload):
    """Counts the recorder's own system calls, with strace, and shows its busiest functions, where perf is."""
    for place in ("place", "out.trail"):
        shutil.rmtree(scratch / place, ignore_errors=True)
    (scratch / "place").mkdir()
    workload.prepare(scratch / "place")
    record = [str(word) for word in (iotrail, "-q", "record", "-o", scratch / "out.trail", "--", *workload.command)]
    subprocess.run(["strace", "-c", "-S", "calls", "-o", scratch / "calls", *record], cwd=scratch / "place", stdout=subprocess.DEVNULL, check=True)
    print(f"\n{workload.name}: system calls of the recorder (its first thread)")
    print("\n".join((scratch / "calls").read_text().splitlines()[:14]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iotrail", type=Path)
    parser.add_argument("--montage", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--free", action="store_true")
    parser.add_argument("workloads", nargs="*")
    args = parser.parse_intermixed_args()
    scratch = Path(tempfile.mkdtemp(prefix="record-cost-"))
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    rows = [("workload", "where", "tool", "cpu_s", "elapsed_s", "to_untraced", "to_strace", "to_seccomp", "peak_mb", "events", "bytes_each", "switches")]
    print(f"load at the start: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    for workload in workloads(scratch, args.montage):
        if args.workloads and workload.name not in args.workloads:
            continue
        for pinned in (False,) if args.free else (True, False):
            measure(args.iotrail, scratch, workload, pinned, args.runs, lambda *row: rows.append(row))
        if args.explain:
            explain(args.iotrail, scratch, workload)
    (out / "record.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip())
    print(f"load at the end: {os.getloadavg()[0]:.2f}")
    shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
