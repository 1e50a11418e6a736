"""Checks the trail of one run of examples/mpi/blocks.c: every rank is a case, and every block was written and read.

usage: check.py IOTRAIL TRAIL MODE RANKS BLOCKS BYTES
"""

import json
import subprocess
import sys

iotrail, trail, mode = sys.argv[1:4]
ranks, blocks, size = map(int, sys.argv[4:7])
shared = mode != "fpp"


def ask(*words):
    return subprocess.run([iotrail, "-q", *words], check=True, capture_output=True, text=True).stdout


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{trail}: {what}: {found}, expected {wanted}")


info = json.loads(ask("info", trail, "--json"))
recording = info["coverage"]["recording"]
expect("cases", info["cases"], ranks)
expect("recorders", recording["recorders"], ranks)
expect("lost", recording["lost"], {})
expect("escaped", recording["escaped"], {})
expect("events counted", recording["events"], info["events"])

rows = [json.loads(line) for line in ask("events", trail, "--json", "--path", "*.dat").splitlines()]
calls = {"write": ("pwrite64",), "read": ("pread64",)}


def blocks_of(names, rid=None):
    return sorted(
        (row["path"].rsplit("/", 1)[1], row["offset"], row["size"])
        for row in rows
        if row["call"] in names and (rid is None or row["rid"] == str(rid))
    )


def place(owner, number):
    name = "shared.dat" if shared else f"rank-{owner:05}.dat"
    return (name, (number * ranks + owner if shared else number) * size, size)


if mode == "mpiio":
    # Collective buffering gathers the blocks of all ranks in few large calls: the same bytes, other calls.
    written = sum(row["size"] or 0 for row in rows if row["call"].startswith(("write", "pwrite")))
    if written < ranks * blocks * size:
        sys.exit(f"{trail}: {written} bytes written through MPI-IO, expected {ranks * blocks * size}")
else:
    for rank in range(ranks):
        wanted = sorted(place(rank, number) for number in range(blocks))
        expect(f"writes of rank {rank}", blocks_of(("pwrite64",), rank), wanted)
        wanted = sorted(place((rank + 1) % ranks, number) for number in range(blocks))
        expect(f"reads of rank {rank}", blocks_of(("pread64",), rank), wanted)
if mode == "flock":
    expect("locks", sum(row["call"] == "flock" for row in rows), 2 * ranks * blocks)


def total_ms(*names):
    return sum(row["dur"] or 0 for row in rows if row["call"] in names) / 1e6


print(
    f"{trail.rsplit('/', 1)[-1]}: {info['events']} events; on the files: writes {total_ms('pwrite64', 'pwritev', 'write'):.1f} ms, "
    f"reads {total_ms('pread64', 'read'):.1f} ms, locks {total_ms('flock', 'fcntl'):.1f} ms, fsync {total_ms('fsync'):.1f} ms, "
    f"opens {total_ms('openat', 'open'):.1f} ms"
)
