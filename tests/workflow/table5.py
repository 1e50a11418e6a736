"""The I/O summary of Montage by job (Dun et al., "ParaTrac", Table 5) against a sum over strace's text: the same workflow runs twice
in the same directory, once under `strace -f -y`, once under `iotrail record`; bytes, files and processes must be equal.

usage: table5.py IOTRAIL [--keep]
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import montage

CALL = re.compile(r"^(\d+) +(?:<\.\.\. )?(\w+)(?:\(| resumed>)")
RESULT = re.compile(r"= (\d+)(?:<.*>)?(?: \(.*\))?$")
PATH = re.compile(r"^\d+ +\w+\(\d+<([^>]*)>")
READ = {"read", "pread64", "readv", "preadv", "preadv2"}
WRITE = {"write", "pwrite64", "writev", "pwritev", "pwritev2"}
BIRTH = {"clone", "clone3", "fork", "vfork"}
OTHERS = {"execve", "execveat", "sendfile", "copy_file_range", "splice", "mmap"}
MODES = {(True, False): "ro", (False, True): "wo", (True, True): "rw"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("iotrail", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--keep", action="store_true", help="leave the directory")
    options = parser.parse_args()
    missing = [program for program in (*montage.PROGRAMS, "make", "strace") if not shutil.which(program)]
    if missing:
        print(f"NOT TESTED: Table 5 of Montage, for want of {', '.join(missing)} (Debian: montage make strace)")
        return 0
    home = Path(tempfile.mkdtemp(prefix="iotrail-table5-")).resolve()
    try:
        return run(options.iotrail, home)
    finally:
        print(f"kept {home}") if options.keep else shutil.rmtree(home)


def run(iotrail, home):
    tiles, pairs = montage.plan(home / "plan")
    calls = ",".join(sorted(READ | WRITE | BIRTH | OTHERS))
    traced(home, ["strace", "-f", "-y", "-s", "0", "-o", home / "strace.txt", "-e", f"trace=?{calls.replace(',', ',?')}"])
    expected = summed((home / "strace.txt").read_text(errors="replace").splitlines(), f"{home}/work/")
    traced(home, [iotrail, "-q", "record", "-o", home / "work.trail", "--"])
    words = ["stats", "--phases", "job", "--path", f"{home}/work/**", "--json", home / "work.trail"]
    profile = json.loads(subprocess.run([iotrail, "-q", *words], check=True, stdout=subprocess.PIPE).stdout)
    found = {row["group"]: figures(row) for row in profile["phases"]}
    problems = [f"{group} {name}: strace {expected.get(group, {}).get(name)}, iotrail {found.get(group, {}).get(name)}"
                for group in sorted(expected.keys() | found.keys()) for name in figures({})
                if expected.get(group, {}).get(name, 0) != found.get(group, {}).get(name, 0)]
    jobs = {row["group"]: row["jobs"] for row in profile["phases"]}
    planned = {"mProjectPP": tiles, "mDiffFit": pairs, "mBackground": tiles, "mImgtbl": 2, "mConcatFit": 1, "mBgModel": 1, "mAdd": 1}
    problems += [f"{group}: {jobs.get(group)} jobs, planned {number}" for group, number in planned.items() if jobs.get(group) != number]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"Table 5 of Montage: {len(found)} groups, {sum(jobs.values())} jobs, {len(figures({}))} figures each, {len(problems)} problems")
    return 1 if problems else 0


def traced(home, tracer):
    shutil.rmtree(home / "work", ignore_errors=True)
    shutil.copytree(home / "plan", home / "work")
    subprocess.run([*tracer, "make", "-j2"], cwd=home / "work", check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def figures(row):
    """What is compared: all but `none`, which needs every call that names a file."""
    modes = {f"{what} {mode}": row.get(what, {}).get(mode, 0) for what in ("files", "processes") for mode in MODES.values()}
    return {"bytes read": row.get("bytes_read", 0), "bytes written": row.get("bytes_written", 0), **modes}


def summed(lines, below):
    """The same from strace's text: calls that moved bytes of regular files below that directory, by job."""
    parent, program, begun, moves, root = {}, {}, {}, [], None
    for line in lines:
        if not (head := CALL.match(line)):
            continue
        pid, call = int(head[1]), head[2]
        root = root or pid
        if "<unfinished ...>" in line:
            begun[pid] = line
        start = begun.pop(pid, line) if "resumed>" in line else line
        if not (result := RESULT.search(line)):
            continue
        if call in BIRTH:
            parent[int(result[1])] = pid
        elif call == "execve":
            program[pid] = Path(start.split('"')[1] if '"' in start else "?").name
        elif call in READ | WRITE and int(result[1]) and (path := PATH.match(start)) and path[1].startswith(below):
            moves.append((pid, path[1], call in READ, int(result[1])))
        elif call in OTHERS - {"mmap"} and int(result[1]):
            raise SystemExit(f"{call} moves bytes in a way that this sum does not know: {line}")
    return by_job(moves, parent, program, root)


def by_job(moves, parent, program, root):
    def job(pid):
        while parent.get(pid, root) != root:
            pid = parent[pid]
        return program.get(pid) or program[root]

    sums, uses = defaultdict(lambda: [0, 0]), defaultdict(lambda: [False, False])
    for pid, path, reads, size in moves:
        group, way = job(pid), 0 if reads else 1
        sums[group][way] += size
        for key in ((group, "files", path), (group, "processes", pid)):
            uses[key][way] = True
    rows = {group: {"bytes_read": read, "bytes_written": written, "files": {}, "processes": {}} for group, (read, written) in sums.items()}
    for (group, what, _), use in uses.items():
        count = rows[group][what]
        count[MODES[tuple(use)]] = count.get(MODES[tuple(use)], 0) + 1
    return {group: figures(row) for group, row in rows.items()}


if __name__ == "__main__":
    sys.exit(main())
