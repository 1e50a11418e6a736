"""Offsets of descriptors that somebody shares who is not recorded: a process that is attached to (`record -p`), or a command that is started
with a log open (`>> log`), while another process with the same open file writes, reads and seeks. Each offset is the truth or NULL.

usage: shared.py IOTRAIL [--seeds N] [--first N]

Every write is a token of its own, so that the file tells where it went; every read tells where it was by what it read.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

WIDTH = 8
# The worker: told what to do line by line, so that it takes turns with whoever shares its descriptor.
WORKER = r"""
import os, sys
fd, notes = int(sys.argv[1]), open(sys.argv[2], "w", buffering=1)
for line in sys.stdin:
    word, argument = line.split()
    if word == "write":
        os.write(fd, argument.encode())
        print("write", argument, file=notes)
    elif word == "read":
        print("read", os.read(fd, 8).decode().strip() or "-", file=notes)
    elif word == "seek":
        os.lseek(fd, int(argument), os.SEEK_SET)
    elif word == "dup":
        os.close(os.dup(fd))
    print("done", flush=True)
"""


class Worker:
    def __init__(self, fd, notes, prefix=()):
        self.process = subprocess.Popen([*prefix, sys.executable, "-c", WORKER, str(fd), notes], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        pass_fds=(fd,), text=True)

    def does(self, word, argument):
        self.process.stdin.write(f"{word} {argument}\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "done\n":
            raise SystemExit("a worker ended early")

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("waited too long")
        time.sleep(0.002)


def tracer(pid):
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("TracerPid:")[1].split()[0])


def trial(iotrail, seed, place):
    draw = random.Random(seed)
    log, notes, trail = place / "log", place / "notes", place / "t.trail"
    log.write_bytes(b"".join(b"%07d\n" % (number * WIDTH) for number in range(40)))
    attaches, appends, shares = draw.random() < 0.5, draw.random() < 0.5, draw.random() < 0.6
    flags = os.O_RDWR | (os.O_APPEND if appends else 0)
    fd = os.open(log, flags)
    other = Worker(fd, place / "others") if shares else None
    prefix = () if attaches else (iotrail, "-q", "record", "-o", trail, "--")
    worker = Worker(fd, notes, prefix)
    keeps = not shares and draw.random() < 0.5  # as a shell does whose job that is
    if not keeps:
        os.close(fd)
        fd = -1
    count = 0

    def act(who):
        nonlocal count
        word = draw.choice(["write", "write", "read", "read", "seek", "dup"])
        argument = {"write": f"w{count:06}.", "read": "-", "dup": "-",
                    "seek": str(WIDTH * draw.randrange(40))}[word]
        count += 1
        who.does(word, argument)
    for _ in range(draw.randrange(3)):
        act(worker)
    recorder = None
    if attaches:
        recorder = subprocess.Popen([iotrail, "-q", "record", "-o", trail, "-p", str(worker.process.pid)], stderr=subprocess.PIPE)
        until(lambda: tracer(worker.process.pid))
        time.sleep(0.02)
    before = len(notes.read_text().splitlines()) if attaches and notes.exists() else 0
    for _ in range(draw.randrange(5, 25)):
        act(other if other and draw.random() < 0.4 else worker)
    worker.end()
    if recorder:
        recorder.communicate(timeout=60)
    if other:
        other.end()
    if fd >= 0:
        os.close(fd)
    return compare(iotrail, trail, log, notes, before), f"{'attached' if attaches else 'started'}, {'append' if appends else 'plain'}, {'shared' if shares else 'kept' if keeps else 'alone'}"


def compare(iotrail, trail, log, notes, before):
    done = subprocess.run([iotrail, "events", trail, "--json", "--call", "read,write"], check=True, capture_output=True)
    rows = [row for row in map(json.loads, done.stdout.splitlines()) if (row["path"] or "").endswith("/log")]
    content, found, wrong = log.read_bytes().decode(), Counter(), []
    noted = [line.split(" ", 1) for line in notes.read_text().splitlines()][before:]
    if [row["call"] for row in rows] != [word for word, _ in noted]:
        return found, [f"calls {[row['call'] for row in rows]}, noted {noted}"]
    for row, (word, argument) in zip(rows, noted):
        if word == "write":
            truth = content.find(argument) if content.count(argument) == 1 else None
        else:
            truth = int(argument) if argument.isdigit() else content.find(argument) if argument != "-" and content.count(argument) == 1 else None
        if row["offset"] is None:
            found["NULL"] += 1
        elif truth is None:
            found["not known where"] += 1
        elif row["offset"] == truth:
            found["right"] += 1
        else:
            wrong.append(f"{word} at {row['offset']}, truly {truth}")
    return found, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("iotrail", type=Path)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first", type=int, default=1)
    options = parser.parse_args()
    sums, bad = {}, 0
    for seed in range(options.first, options.first + options.seeds):
        place = Path(tempfile.mkdtemp(prefix="iotrail-shared-"))
        (found, wrong), kind = trial(options.iotrail.resolve(), seed, place)
        shutil.rmtree(place)
        sums.setdefault(kind, Counter()).update(found)
        for one in wrong[:3]:
            print(f"seed {seed} ({kind}): {one}")
        bad += len(wrong)
    for kind, found in sorted(sums.items()):
        print(f"{kind}: {', '.join(f'{number} {what}' for what, number in sorted(found.items()))}")
    for kind, found in sums.items():
        if kind.endswith("plain, alone") and not found["right"]:
            sys.exit(f"{kind}: no offset is known")
    if bad:
        sys.exit(f"{bad} offsets are wrong")


if __name__ == "__main__":
    main()
