"""What hung programs are said to hang in: recorded and traced by strace, killed, interrupted, or left running.

usage: run.py IOTRAIL
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
iotrail = str(Path(sys.argv[1]).resolve())
# Seconds for which a program hangs before something is done to it.
HANGS = 1.5
problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {found}, expected {wanted}")


def told(what, trail, hangs):
    """Compares what never returned in a trail with the calls that hang there, and how long."""
    done = subprocess.run([iotrail, "-q", "why", trail, "--json"], capture_output=True, text=True, timeout=60)
    expect(f"{what}: exit code", done.returncode, 0)
    # `timeout --signal=KILL` ends in killing itself.
    rows = [row for row in json.loads(done.stdout)["trails"][0]["never_returned"] if row["program"] != "timeout"]
    expect(what, [(row["call"], row["program"]) for row in rows], hangs)
    for row in rows:
        expect(f"{what}: {row['time_ns']} ns", HANGS - 0.4 < row["time_ns"] / 1e9 < HANGS + 3, True)


def begun(*command, **options):
    """A process that has come to where it hangs."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
    expect(f"{command[0]} begins", process.stdout.readline(), b"begun\n")
    return process


def joined(program):
    """A hung program is joined, and left when the recorder is told to end."""
    hung = begun(program, "read")
    recorder = subprocess.Popen([iotrail, "-q", "record", "-o", "joined.trail", "-p", str(hung.pid)])
    time.sleep(HANGS)
    recorder.send_signal(signal.SIGINT)
    recorder.wait(60)
    expect("the program goes on", hung.poll(), None)
    hung.kill()
    hung.wait()
    told("joined and left", "joined.trail", [("read", "hang")])


def recorded(program):
    """The program that is recorded is killed, in the call and long after it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        trail = f"{number.name}.trail"
        begun(iotrail, "-q", "record", "-o", trail, "--", "timeout", f"--signal={number.name}", str(HANGS), program, "read").wait(60)
        told(f"recorded, {number.name}", trail, [("read", "hang")])
    begun(iotrail, "-q", "record", "-o", "computes.trail", "--", program, "computes").wait(60)
    told("interrupted, then much is computed", "computes.trail", [])


def traced(program):
    """The same of the text that strace writes."""
    strace = begun("strace", "-f", "-ttt", "-T", "-o", "text", "timeout", "--signal=TERM", str(HANGS), program, "read")
    strace.wait(60)
    subprocess.run([iotrail, "-q", "import", "text", "-o", "text.trail"], check=True)
    told("traced, SIGTERM", "text.trail", [("read", "hang")])


def main():
    with tempfile.TemporaryDirectory() as work:
        program = f"{work}/hang"
        subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-o", program, HERE / "hang.c"], check=True)
        for case in (joined, recorded, traced):
            with tempfile.TemporaryDirectory(dir=work) as directory:
                os.chdir(directory)
                case(program)
    print("\n".join(problems) or "what hangs is told, and only that")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
