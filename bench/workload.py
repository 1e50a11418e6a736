"""What generating and characterising workloads costs, and how fio does with the same requests.

usage: workload.py IOTRAIL [--runs N] [--large]

Reads of 4 KiB at random places of a file of 64 MiB in memory, a million of them: `iotrail generate` and fio's psync engine in alternating
runs, the best of each. Then the synthesis alone (a dry run), a million reads dealt to 1, 8 and 64 ranks, 10,000 waits of 1 ms on two
ranks, and models made of recordings that grow (--large: up to ten million events of 64 ranks). Needs `fio`. CPU seconds are user + system
of the whole tree, memory is that of its largest process.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MEMORY = "/dev/shm"
MILLION = 1_000_000
MODEL = """iotrail_workload = 1
[[group]]
name = "all"
ranks = "0.."
[[file]]
name = "data"
class = "shared"
size = "64 MiB"
filled = true
[[file.session]]
name = "read"
mode = "ro"
requests = {{ read = {count} }}
size = "4 KiB"
offset = {{ start = "0", rank = "0", step = "4 KiB", every = 16384, jump = "0" }}
{more}
[program]
steps = [{{ session = "data/read" }}]
"""


class Used:
    """A command, and what it used."""

    def __init__(self, words):
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=said)
            self.out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                said.seek(0)
                sys.exit(f"{' '.join(map(str, words))} ended with {process.returncode}: {said.read().decode()}")
        self.user, self.system, self.memory = usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024

    def __str__(self):
        return f"user {self.user:.2f} s, system {self.system:.2f} s, {self.memory:.0f} MB"


class Bench:
    def __init__(self, iotrail, place):
        self.iotrail, self.place = iotrail, place

    def model(self, count, more=""):
        path = self.place / "model.toml"
        path.write_text(MODEL.format(count=count, more=more))
        return path

    def generate(self, model, *words):
        target = self.place / "files"
        shutil.rmtree(target, ignore_errors=True)
        return Used([self.iotrail, "-q", "generate", model, "--dir", target, "--json", *words])

    def fio(self):
        words = ["--name=r", "--ioengine=psync", "--rw=randread", "--bs=4k", "--size=64m", f"--io_size={MILLION * 4096}", "--thread", "--norandommap"]
        return Used(["fio", f"--directory={self.place}", *words])

    def against_fio(self, runs):
        model = self.model(MILLION, 'random = "1"')
        ours, theirs = [], []
        for _ in range(runs):
            ours.append(self.generate(model, "--ranks", "1", "--asap"))
            theirs.append(self.fio())
        for name, all_of in (("iotrail generate", ours), ("fio psync", theirs)):
            print(f"{MILLION} reads, {name}: {min(all_of, key=lambda used: used.user)}")

    def shapes(self):
        model = self.model(MILLION, 'random = "1"')
        print("synthesis alone:", self.generate(model, "--ranks", "1", "--dry-run"))
        for ranks in (1, 8, 64):
            print(f"{ranks} ranks:", self.generate(self.model(MILLION // ranks), "--ranks", ranks, "--asap"))
        used = self.generate(self.model(10_000, 'slack = "1 ms"'), "--ranks", "2")
        result = json.loads(used.out)
        print(f"10,000 waits of 1 ms on 2 ranks: {result['waited_ns'] / result['slack_ns'] - 1:+.3%} of their sum;", used)

    def models(self, large):
        for events in (256_000, 1_024_000) + ((10_000_000,) if large else ()):
            trail = self.place / "plan.trail"
            self.generate(self.model(events // 64), "--ranks", "64", "--dry-run", "-o", trail, "--force")
            used = Used([self.iotrail, "-q", "characterize", trail, "-o", self.place / "made.toml"])
            print(f"characterize {events} events of 64 ranks: model of {(self.place / 'made.toml').stat().st_size} bytes,", used)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iotrail", type=Path)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--large", action="store_true")
    args = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="workload-cost-", dir=MEMORY))
    print(f"load at the start: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    try:
        bench = Bench(args.iotrail.resolve(), place)
        bench.against_fio(args.runs)
        bench.shapes()
        bench.models(args.large)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"load at the end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
