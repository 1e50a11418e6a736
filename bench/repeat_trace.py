"""Repeats an `strace -f -tt` trace on stdout, each time later and with other process ids.

usage: repeat_trace.py TRACE MEGABYTES
"""
import re
import sys

LINE = re.compile(rb"^(\d+) +(\d\d):(\d\d):(\d\d)\.(\d{6}) ")
CHILD = re.compile(rb"^((?:<\.\.\. )?(?:clone3?|v?fork)[ (].*= )(\d+)(.*)$")


def main():
    lines = open(sys.argv[1], "rb").read().split(b"\n")[:-1]
    limit = int(sys.argv[2]) << 20
    parsed = [(LINE.match(line), line) for line in lines]
    times = [micros(match) for match, _ in parsed if match]
    pids = sorted({int(match[1]) for match, _ in parsed if match})
    span, step = max(times) - min(times) + 1000, pids[-1] - pids[0] + 1
    written, number, start = 0, 0, min(times)
    while written < limit:
        shift = number * span - start
        block = b"".join(moved(match, line, shift, number * step) for match, line in parsed)
        sys.stdout.buffer.write(block)
        written, number = written + len(block), number + 1


def micros(match):
    hours, minutes, seconds, fraction = (int(match[group]) for group in (2, 3, 4, 5))
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction


def moved(match, line, shift, pid_shift):
    if not match:
        return line + b"\n"
    time = (micros(match) + shift) % 86_400_000_000
    seconds, fraction = divmod(time, 1_000_000)
    rest = line[match.end():]
    child = CHILD.match(rest)
    if child:
        rest = b"%s%d%s" % (child[1], int(child[2]) + pid_shift, child[3])
    return b"%d %02d:%02d:%02d.%06d %s\n" % (
        int(match[1]) + pid_shift, seconds // 3600, seconds // 60 % 60, seconds % 60, fraction, rest)


main()
