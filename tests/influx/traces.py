"""Trails whose points are known."""
import shutil
import subprocess
import time
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "advise"

# What servers and queries might take for something else.
HOSTILE = ['a b', 'a,b=c', '"', "'", "\\", "end\\", "tab\there", "line\nend", "ü∂", "$x ${job:regex} $__all", "a/^$|.*[]()b", "'; DROP DATABASE t --",
           "m x=1i 1", "\x01\x7f", "\\x0a", "%41", "..."]


def quoted(name):
    """As strace prints it."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in name.encode())


class Strace:
    """Lines of strace -f -ttt -T."""

    def __init__(self, begin):
        self.lines, self.begin = [], begin

    def call(self, at_us, text, pid=7):
        stamp = self.begin + at_us
        self.lines.append(f"{pid}  {stamp // 1_000_000}.{stamp % 1_000_000:06d} {text} <0.000002>")

    def write(self, path):
        path.write_text("\n".join([*self.lines, ""]))


def hostile(directory):
    """Every hostile name is opened and written to, several times in the same microsecond."""
    trace = Strace(int(time.time()) * 1_000_000)
    for number, name in enumerate(HOSTILE):
        path = quoted(f"/data/{name}")
        trace.call(number * 10, f'openat(AT_FDCWD, "{path}", O_RDWR|O_CREAT, 0666) = 3')
        for _ in range(3):
            trace.call(number * 10 + 1, 'write(3, "x"..., 100) = 100')
        trace.call(number * 10 + 2, "close(3) = 0")
    trace.write(directory / "names_host1_0.st")
    return ["names_host1_0.st"]


def habits(directory):
    """The programs with habits that cost time, as two ranks."""
    names = []
    for rank, habit in enumerate(("read-again", "seek-read", "reopen", "sync-each-write")):
        names.append(f"habit_host{rank % 2}_{rank}.st")
        shutil.copy(FIXTURES / f"{habit}.strace", directory / names[-1])
    return names


def many(directory, calls):
    """A long trace."""
    trace = Strace(int(time.time()) * 1_000_000)
    trace.call(0, 'openat(AT_FDCWD, "/data/many", O_RDONLY) = 3')
    for number in range(calls):
        trace.call(3 * number + 3, f'pread64(3, "x"..., 100, {100 * number}) = 100')
    trace.write(directory / "many_host1_0.st")
    return ["many_host1_0.st"]


def imported(iotrail, directory, make, *arguments):
    """The trail of the traces that `make` writes."""
    trail = f"{make.__name__}.trail"
    subprocess.run([iotrail, "import", "-q", "-o", trail, *make(directory, *arguments)], cwd=directory, check=True)
    return trail
