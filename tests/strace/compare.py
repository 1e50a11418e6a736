"""Compares recordings with strace's: the same deterministic program, once under `strace -f -ttt -T -y` (imported) and once under
`iotrail record`; each thread must show the same calls in the same order with the same descriptors, paths, offsets, sizes,
errors and flags. What may differ is listed in EXPLAINED, with the reason.

usage: compare.py IOTRAIL [--calls io|all] [--self] [--keep] [WORD...]    (--self: strace with strace; what differs then is no fact)
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of memory that belongs to no file a recording keeps the number of calls only.
MAPPINGS = {"brk", "mmap", "munmap", "mremap", "msync", "madvise", "mprotect"}
BIRTHS = {"clone", "clone3", "fork", "vfork"}
# Calls that return addresses, numbers of processes, or times: nothing of the program.
RETURNS_VARY = MAPPINGS | BIRTHS | {"brk", "shmat", "wait4", "waitid", "getpid", "gettid", "getppid", "getpgrp", "getpgid", "getsid", "setsid",
                                    "set_tid_address", "alarm", "times", "time"}
# Waits between threads and returns from handlers of SIGCHLD: how often they happen is a matter of time, not of the program.
RACES = {"futex", "poll", "sched_yield", "rt_sigreturn"}
# Programs race with themselves (how much a pipe holds, whether a time stamp is old enough): a pair of runs that differs is run
# again. What the recorder does wrong is there each time.
ATTEMPTS = 4
# Calls that the set `io` leaves out: they neither take nor make a descriptor or a path, map no file, begin or end no process.
NOT_IO = re.compile(r"brk|rt_\w+|sigaltstack|arch_prctl|set_tid_address|set_robust_list|rseq|prlimit64|getrlimit|setrlimit|getrandom|get[eu]*[ug]id|getres[ug]id"
                    r"|getp?pid|gettid|getpgrp|getpgid|getsid|setsid|setpgid|set\w*[ug]ids?|getgroups|umask|sysinfo|uname|sched_\w+|clock_\w+|nanosleep|alarm|pause"
                    r"|kill|tk?gkill|\w*itimer|timer_\w+|prctl|capget|capset|getrusage|times|time|wait4|waitid|madvise|mprotect|seccomp|getpriority|personality")
COLUMNS = ("call", "fd", "path", "path2", "offset", "requested", "size", "ret", "errno", "flags")

SHELL = "echo a > a; cat a | tr a b > b; (cd /; ls > /dev/null); for i in 1 2 3; do echo $i >> c; done; wc -c < c; cat < no 2> err; mkdir d; mv a d; rm -r d; exec cat b"
PYTHON = """import os, threading, subprocess, mmap
os.mkdir('d'); f = open('d/x', 'w+b', buffering=0); f.write(b'x' * 10000); f.seek(4096); f.read(100); os.pwrite(f.fileno(), b'abc', 50)
os.preadv(f.fileno(), [bytearray(10), bytearray(20)], 9990); os.posix_fallocate(f.fileno(), 0, 20000); os.ftruncate(f.fileno(), 500)
m = mmap.mmap(f.fileno(), 500); m[3:5] = b'zz'; m.flush(); m.close()
d = os.open('d', os.O_RDONLY); os.stat('x', dir_fd=d); os.link('x', 'y', src_dir_fd=d, dst_dir_fd=d); os.link('d/y', 'd/z'); os.symlink('y', 'd/s'); os.rename('z', 'v', src_dir_fd=d, dst_dir_fd=d)
os.readlink('d/s'); os.rename('d/s', 'd/u'); os.chmod('d/y', 0o600); os.utime('d/y', (1, 2)); os.listdir('d'); g = os.dup(f.fileno()); os.lseek(g, 7, 0); f.read(3)
def work(i):
    with open(f'd/t{i}', 'wb', buffering=0) as t: [t.write(b'q' * j) for j in range(1, 5)]
for i in range(3):
    t = threading.Thread(target=work, args=(i,)); t.start(); t.join()
try: open('/no/such')
except OSError: pass
os.chdir('d'); open('rel', 'w').close(); os.remove('rel'); os.chdir('..')
print(subprocess.call(['sh', '-c', 'cat d/y | wc -c']))
import socket
a, b = socket.socketpair(); a.sendall(b'12345'); b.recv(10); r, w = os.pipe(); os.write(w, b'p'); os.read(r, 5)
os.sendfile(w, f.fileno(), 0, 10); os.copy_file_range(d and os.open('d/y', os.O_RDONLY), os.open('copy', os.O_CREAT | os.O_WRONLY), 40)
"""


def programs(compiled):
    """Name and command of each program; run in an empty directory."""
    doc = "/usr/share/doc/bash" if Path("/usr/share/doc/bash").is_dir() else "/etc"
    source = ROOT / "crates" / "model"
    yield "ls -lR", ["ls", "-lR", source]
    yield "cp -a", ["cp", "-a", source / "src", "copy"]
    yield "tar there and back", ["sh", "-c", f"tar cf x.tar -C {source} src && tar xf x.tar && tar tf x.tar > list"]
    yield "gzip", ["sh", "-c", f"cat {source}/src/*.rs > all; gzip -k all; gzip -t all.gz; zcat all.gz > copy; cmp all copy"]
    yield "grep -r", ["grep", "-rn", "pub fn", source]
    yield "find -exec", ["find", doc, "-name", "*r*", "-exec", "wc", "-c", "{}", ";"]
    yield "sh pipelines", ["sh", "-c", SHELL]
    yield "bash", ["bash", "-c", "x=$(seq 3 | tac | paste -sd+); echo $((x)) > r; while read l; do echo got $l; done < r; printf '%s\\n' {1..20} | sort -n | uniq | tail -n 2"]
    yield "python3", [os.path.realpath(sys.executable), "-I", "-B", "-c", PYTHON]
    yield "sqlite3", ["sqlite3", "a.db", "create table t(x); begin; insert into t values (1), (2); commit; update t set x = 3; select sum(x) from t; vacuum;"]
    yield "sqlite3 with a write-ahead log", ["sqlite3", "a.db", "pragma journal_mode=wal; create table t(x); insert into t values (7); pragma wal_checkpoint; select * from t;"]
    yield "git", ["sh", "-c", "export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' HOME=$PWD; git init -q r && cd r && echo a > a && git add a "
                  "&& git -c user.name=t -c user.email=t@example.org commit -qm one && git log --stat && git status --short"]
    yield "cc", ["sh", "-c", "echo 'int main(void) { return 0; }' > a.c && cc -o a a.c && ./a"]
    yield "ways to begin", [compiled("lives"), "vfork"]
    yield "a chain of forks", [compiled("lives"), "chain", "10"]
    yield "traps", [compiled("traps")]
    for path in sorted((ROOT / "tests" / "programs").glob("*.c")):
        first = path.read_text()[:2000]
        if command := re.search(r"compare with strace:(.*)", first):
            yield path.stem, [compiled(path.stem), *command.group(1).replace("*/", "").split()]


class Events:
    """Events of one recording by thread; a thread is named by the way of births that leads to it: 0, 0.1, 0.1.0."""

    def __init__(self, lines):
        by_thread = defaultdict(list)
        for line in lines:
            event = json.loads(line)
            by_thread[event["tid"]].append(event)
        self.names, self.threads = {}, {}
        if by_thread:
            first = min(by_thread, key=lambda tid: (by_thread[tid][0]["start_ns"], by_thread[tid][0]["seq"]))
            self.name(first, "0", by_thread)
        for name, tid in list(self.threads.items()):
            self.threads[name] = by_thread[tid]
        self.orphans = [tid for tid in by_thread if tid not in self.names]

    def name(self, tid, name, by_thread):
        self.names[tid], self.threads[name] = name, tid
        born = [event["ret"] for event in by_thread.get(tid, []) if event["call"] in BIRTHS and (event["ret"] or -1) > 0]
        for index, child in enumerate(born):
            if child not in self.names:
                self.name(child, f"{name}.{index}", by_thread)

    def rows(self, name, calls):
        for event in self.threads.get(name, []):
            if event["call"] in RACES or calls == "io" and NOT_IO.fullmatch(event["call"]):
                continue
            if event["call"] in MAPPINGS and event["path"] is None:
                continue
            yield self.row(event)

    def row(self, event):
        row = {column: event[column] for column in COLUMNS}
        if event["call"] in RETURNS_VARY and (event["ret"] or 0) >= 0:
            row["ret"] = self.names.get(event["ret"], "varies") if event["call"] in BIRTHS | {"wait4"} else "varies"
        for column in ("path", "path2"):
            if row[column]:
                row[column] = self.without_numbers(row[column])
        return row

    def without_numbers(self, path):
        path = re.sub(r"(pipe|socket|anon_inode|mnt|net|pid|user):\[\d+\]", r"\1", path)
        path = re.sub(r"/proc/(\d+|self)\b", "/proc/N", path)
        # names made at random: git, gcc, mkstemp
        return re.sub(r"(tmp_obj_|/cc|/tmp\.|/etilqs_|sh-thd\.?|/tac|\.git/t)[A-Za-z0-9]{6,16}", r"\1RANDOM", path)


def differ_only(a, b, columns):
    return a and b and all(a[column] == b[column] for column in COLUMNS if column not in columns)


def behind_descriptor(one, other):
    """Whether strace names a file by the link to its descriptor, which a recording follows."""
    return one and other and re.fullmatch(r"/proc/N/fd/\d+", one) and not other.startswith("/proc/")


def same_file(one, other):
    return one == other or behind_descriptor(one, other) or one and other and os.path.realpath(one) == os.path.realpath(other)


# (reason, test of one pair of rows; a missing row is None). A difference that a test accepts is counted, not reported.
EXPLAINED = [
    ("a recording names what the kernel resolved; strace does so for descriptors, and other paths are made absolute by their letters",
     lambda a, b: differ_only(a, b, ("path", "path2")) and same_file(a["path"], b["path"]) and same_file(a["path2"], b["path2"])),
]


def differences(strace, record, calls):
    """Pairs of rows that differ and are not explained, with their thread."""
    found, explained = [], defaultdict(int)
    for name in sorted(strace.threads.keys() | record.threads.keys()):
        left, right = list(strace.rows(name, calls)), list(record.rows(name, calls))
        for index, (a, b) in enumerate(aligned(left, right)):
            if a == b:
                continue
            reason = next((reason for reason, accepts in EXPLAINED if accepts(a, b)), None)
            if reason:
                explained[reason] += 1
            else:
                found.append((name, index, a, b))
    return found, explained


def aligned(left, right):
    """Pairs calls of both sides; when names differ, looks a little ahead for where they meet again."""
    i = j = 0
    while i < len(left) or j < len(right):
        if i < len(left) and j < len(right) and left[i]["call"] == right[j]["call"]:
            yield left[i], right[j]
            i, j = i + 1, j + 1
            continue
        skip = next(((x, y) for distance in range(1, 40) for x in range(distance + 1) for y in [distance - x]
                     if i + x < len(left) and j + y < len(right) and left[i + x]["call"] == right[j + y]["call"]), None)
        x, y = skip or (len(left) - i, len(right) - j)
        for row in left[i:i + x]:
            yield row, None
        for row in right[j:j + y]:
            yield None, row
        i, j = i + x, j + y


def shown(a, b):
    if a and b:
        parts = [f"{column} strace {a[column]!r} record {b[column]!r}" for column in COLUMNS if a[column] != b[column]]
        return f"{a['call']} {b['path'] or ''} fd {b['fd']}: " + "; ".join(parts)
    row = a or b
    return f"only {'strace' if a else 'record'}: " + " ".join(f"{column}={row[column]}" for column in COLUMNS if row[column] is not None)


class Comparison:
    def __init__(self, iotrail, scratch, against_itself):
        self.iotrail, self.scratch, self.against_itself = iotrail, scratch, against_itself

    def compiled(self, name):
        made = self.scratch / name
        if not made.exists():
            subprocess.run(["cc", "-O1", "-pthread", "-o", made, ROOT / "tests" / "programs" / f"{name}.c", "-lrt"], check=True)
        return made

    def run(self, prefix, command):
        """Runs in an empty directory of always the same name."""
        stage = self.scratch / "stage"
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir()
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "0", "HOME": str(stage), "TMPDIR": str(stage)}
        words = [str(word) for word in [*prefix, *command]]
        return subprocess.run(words, cwd=stage, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120).returncode % 256

    def strace(self, command, name):
        text, trail = self.scratch / f"{name}.st", self.scratch / f"{name}.trail"
        code = self.run(["strace", "-f", "-ttt", "-T", "-y", "-o", text], command)
        subprocess.run([self.iotrail, "-q", "import", "--force", "-o", trail, text], check=True)
        return code, trail

    def record(self, command, name, calls):
        if self.against_itself:
            return self.strace(command, f"{name}2")
        trail = self.scratch / f"{name}.trail"
        shutil.rmtree(trail, ignore_errors=True)
        return self.run([self.iotrail, "-q", "record", "--calls", calls, "-o", trail, "--"], command), trail

    def events(self, trail):
        done = subprocess.run([self.iotrail, "events", "--json", trail], check=True, capture_output=True, text=True)
        return Events(done.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iotrail", type=Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--calls", choices=["io", "all"], default="io")
    parser.add_argument("--self", action="store_true", dest="against_itself")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_intermixed_args()
    scratch = Path(tempfile.mkdtemp(prefix="compare-strace-"))
    comparison = Comparison(args.iotrail.resolve(), scratch, args.against_itself)
    passed = failed = skipped = events = 0
    for name, command in programs(comparison.compiled):
        if args.words and not any(word in name for word in args.words):
            continue
        if shutil.which(str(command[0])) is None:
            skipped += 1
            print(f"NOT TESTED  {name}: {command[0]} is not installed")
            continue
        problems, explained, count = best(comparison, command, args.calls)
        events += count
        failed += bool(problems)
        passed += not problems
        print(f"{'FAILED' if problems else 'passed'}  {name}: {count} calls" + "".join(f"; {n} times {reason}" for reason, n in explained.items()))
        print("".join(f"        {problem}\n" for problem in problems[:25]), end="", flush=True)
        if len(problems) > 25:
            print(f"        and {len(problems) - 25} more")
    if not args.keep:
        shutil.rmtree(scratch, ignore_errors=True)
    else:
        print(scratch)
    print(f"compared with strace: {passed} passed, {failed} failed, {skipped} not tested; {events} calls")
    return 1 if failed else 0


def best(comparison, command, calls):
    """The attempt with the fewest problems."""
    results = []
    while len(results) < ATTEMPTS and not (results and not results[-1][0]):
        results.append(one(comparison, command, calls))
    return min(results, key=lambda result: len(result[0]))


def one(comparison, command, calls):
    """Problems of one program, how many differences are explained, and the calls compared."""
    traced_code, traced = comparison.strace(command, "traced")
    recorded_code, recorded = comparison.record(command, "recorded", calls)
    problems = [] if recorded_code in (traced_code, 128 + 256 - traced_code) else [f"status under strace {traced_code}, recorded {recorded_code}"]
    if not (recorded / "trail.json").exists():
        return [*problems, "no trail was recorded"], {}, 0
    strace, record = comparison.events(traced), comparison.events(recorded)
    for side, events in (("strace", strace), ("record", record)):
        if events.orphans:
            problems.append(f"{side}: {len(events.orphans)} threads that nobody created")
    found, explained = differences(strace, record, calls)
    problems += [f"{name}[{index}] {shown(a, b)}" for name, index, a, b in found]
    return problems, explained, sum(len(list(strace.rows(name, calls))) for name in strace.threads)


if __name__ == "__main__":
    sys.exit(main())
