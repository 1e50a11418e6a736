"""Exports of models of workloads, run by the programs that they are for and recorded: what the statement of losses says is kept, is there.

usage: exports.py IOTRAIL [--ior PROGRAM]

fio replays logs of ranks: each process makes the transfers and syncs of its rank, in their order, at their places. A job of fio that is
recorded, characterised and exported has its parameters. Programs in C, built with cc and both mpicc, make the calls of the plan, call for call. IOR
makes the transfers of the model, rank by rank; without --ior its lines are compared with its documented layout.
"""
import collections
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

iotrail = Path(sys.argv[1]).resolve()
ior = Path(sys.argv[sys.argv.index("--ior") + 1]).resolve() if "--ior" in sys.argv else None
LAUNCH = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"], "mpich": ["mpirun.mpich"]}
RANKS = 3
problems, passed = [], 0

# Everything that models have words for.
MIXED = """
iotrail_workload = 1
[[group]]
name = "all"
ranks = "0.."
[[group]]
name = "root"
ranks = "0"
[[file]]
name = "in/data"
class = "shared"
size = "70000 B"
[[file.session]]
name = "read"
mode = "ro"
requests = { read = 5, stat = 1 }
size = "4 KiB"
offset = { start = "0 B", rank = "4 KiB", step = "4 KiB * ranks" }
slack = "2 ms"
[[file.session]]
name = "whole"
mode = "ro"
requests = { read = 3 }
size = "30000 B"
offset = "sequential"
[[file]]
name = "out/%r/part.%i"
class = "private"
count = 3
[[file.session]]
name = "write"
mode = "wo create truncate"
requests = { write = 4, fsync = 1 }
size = ["3 * 1000 B", "10 B"]
offset = "sequential"
[[file.session]]
name = "update"
mode = "rw"
requests = { read = 2, write = 2, fdatasync = 1 }
size = "500 B"
offset = { start = "0 B", step = "700 B" }
[[file]]
name = "log"
class = "root"
[[file.session]]
name = "say"
mode = "wo create append"
requests = { write = 2 }
size = "40 B"
offset = "sequential"
[[file]]
name = "out/none.%r"
class = "private"
kind = "absent"
[[file]]
name = "tmp.%r"
class = "private"
kind = "directory"
[program]
steps = [
  { call = "stat", file = "out/none.%r", ranks = "all" },
  { session = "in/data/read" },
  { barrier = "all" },
  { repeat = 3, steps = [{ session = "out/%r/part.%i/write" }, { session = "log/say", ranks = "root" }, { barrier = "all" }] },
  { repeat = 3, steps = [{ session = "out/%r/part.%i/update" }] },
  { session = "in/data/whole" },
]
"""


def run(*words, cwd=None, check=True):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=300)
    if check and done.returncode:
        sys.exit(f"{shlex.join(map(str, words))}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def expect(what, found, wanted):
    global passed
    if found == wanted:
        passed += 1
        return
    one, other = (text.splitlines() for text in map(lambda value: json.dumps(value, indent=0, default=list), (wanted, found)))
    at = next((at for at, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
    shown = lambda lines: " ".join(lines[max(at - 15, 0) : at + 15])
    problems.append(f"{what}:\n  wanted {shown(one)}\n  found  {shown(other)}")


KINDS = {
    "read": "read", "pread64": "read", "write": "write", "pwrite64": "write", "fsync": "fsync", "fdatasync": "fdatasync",
    "open": "open", "openat": "open", "openat2": "open", "creat": "open", "close": "close", "unlink": "unlink", "unlinkat": "unlink",
    "stat": "stat", "lstat": "stat", "newfstatat": "stat", "statx": "stat", "fstat": "stat", "mkdir": "mkdir", "mkdirat": "mkdir",
    "rmdir": "rmdir", "rename": "rename", "renameat": "rename", "renameat2": "rename", "ftruncate": "truncate", "getdents64": "readdir",
}  # fmt: skip


def first_process(trail):
    """The number of the process that starts the others."""
    return json.loads(run(iotrail, "-q", "events", trail, "--json").splitlines()[0])["pid"]


def sequences(trail, directory, kinds, without=None):
    """Of each process what it does beneath the directory, in order: kind, name, place, bytes."""
    text = run(iotrail, "-q", "events", trail, "--json", "--layer", "syscall", "--path", f"{directory}/**")
    found = collections.defaultdict(list)
    for line in text.splitlines():
        event = json.loads(line)
        kind = KINDS.get(event["call"])
        name = os.path.relpath(event["path"], directory)
        if event["pid"] == without or kind not in kinds or re.search(r"\.(iolog|fio|trail|txt|app|c)$", name):
            continue
        moves = kind in ("read", "write")
        place, bytes_moved = (event["offset"], event["requested"]) if moves else (None, None)
        found[(event["case_id"], event["pid"])].append((event["start_ns"], kind, name, place, bytes_moved))
    ranks = ([row[1:] for row in sorted(rows, key=lambda row: row[0])] for rows in found.values())
    return sorted(ranks, key=repr)


def plan(model, ranks, work, kinds):
    trail = work / "plan.trail"
    run(iotrail, "-q", "generate", model, "--dir", work / "planned", "--ranks", ranks, "--dry-run", "-o", trail, "--force")
    return sequences(trail, work / "planned", kinds)


def models(work):
    for name in ("checkpoint", "shared-strided", "loader", "log"):
        model = work / f"{name}.toml"
        run(iotrail, "-q", "workload", "--template", name, "--scale", "size=0.25,slack=0.02", "-o", model)
        yield name, model
    mixed = work / "mixed.toml"
    mixed.write_text(MIXED)
    yield "mixed", mixed


def fio_iolog(work):
    kinds = {"read", "write", "fsync", "fdatasync"}
    for name, model in models(work):
        files = work / f"{name}.iolog"
        files.mkdir()
        run(iotrail, "-q", "export", "fio-iolog", model, "--ranks", RANKS, "-o", files / "app.fio")
        job = (files / "app.fio").read_text()
        for line in re.findall(r"^# First: (mkdir -p .*)$", job, re.M):
            run("sh", "-c", line, cwd=files)
        trail = work / f"{name}.iolog.trail"
        output = run(iotrail, "-q", "record", "-o", trail, "--", "fio", "app.fio", cwd=files)
        expect(f"iolog {name}: errors of fio", re.findall(r"err= *[1-9].*", output), [])
        planned = plan(model, RANKS, work, kinds)
        # Where appended bytes lie depends on who comes first.
        appended = {name for rank in planned for kind, name, place, _ in rank if kind == "write" and place is None}
        anywhere = lambda rows: [(kind, name, None if name in appended else place, number) for kind, name, place, number in rows]
        wanted = sorted(filter(None, map(anywhere, clipped(planned, model))), key=repr)
        made = sorted(map(anywhere, sequences(trail, files, kinds, without=first_process(trail))), key=repr)
        expect(f"iolog {name}: transfers of {RANKS} ranks", made, wanted)


def clipped(ranks, model):
    """Reads as far as the file reaches at that time: the files of these models are whole before they are read."""
    sizes = collections.Counter()
    for rank in ranks:
        for kind, name, place, number in rank:
            if kind == "write" and place is not None:
                sizes[name] = max(sizes[name], place + number)
    found = re.findall(r'^name = "([^"]+)"\nclass = "\w+"\n(?:count = \d+\n)?size = "(\d+) (K?i?B)"', model.read_text(), re.M)
    before = {name.replace("%r", r"\d+").replace("%i", r"\d+"): int(size) * (1024 if unit == "KiB" else 1) for name, size, unit in found}
    for name in {row[1] for rank in ranks for row in rank}:
        sizes[name] = max([sizes[name], *(size for form, size in before.items() if re.fullmatch(form, name))])
    for rank in ranks:
        rows = []
        for kind, name, place, number in rank:
            if kind == "read" and name in sizes and place is not None:
                number = min(number, max(sizes[name] - place, 0))
                if number == 0:
                    continue
            rows.append((kind, name, place, number))
        yield rows


JOBS = {
    "write": ("rw=write\nbs=4k\nsize=64k\nnumjobs=2\nfilename_format=f.$jobnum\nfsync=8\nend_fsync=1", {
        "rw": "write", "bs": "4096,4096", "number_ios": "16", "numjobs": "2", "fsync": "8", "end_fsync": "1",
    }),
    "read": ("rw=read\nbs=8k\nsize=80k\nfilename=in.dat", {"rw": "read", "bs": "8192,8192", "number_ios": "10", "numjobs": "1"}),
    "skip": ("rw=write:4k\nbs=4k\nsize=64k\nio_size=32k\nfilename=s.dat", {"rw": "write:4096", "bs": "4096,4096", "number_ios": "8"}),
    "sizes": ("rw=write\nbssplit=4k/50:16k/50\nsize=400k\nfilename=z.dat\nrandseed=5", {"rw": "write", "numjobs": "1"}),
    "shared": ("rw=write\nbs=4k\nsize=32k\noffset_increment=32k\nnumjobs=3\nfilename=shared.dat\nfilesize=96k", {
        # Which process has which place is fio's affair: there is no law of ranks.
        "rw": "write", "bs": "4096,4096", "number_ios": "8", "numjobs": "3",
    }),
}  # fmt: skip


def fio_job(work):
    for name, (job, wanted) in JOBS.items():
        files = work / f"{name}.job"
        files.mkdir()
        (files / "job.fio").write_text(f"[global]\nioengine=psync\nfallocate=none\ninvalidate=0\nthread=0\n[{name}]\n{job}\n")
        run("fio", "--create_only=1", "job.fio", cwd=files)
        trail, model = work / f"{name}.job.trail", work / f"{name}.job.toml"
        run(iotrail, "-q", "record", "-o", trail, "--", "fio", "job.fio", cwd=files)
        data = [word for pattern in ("f.*", "*.dat") for word in ("--path", f"{files}/{pattern}")]
        run(iotrail, "-q", "characterize", trail, *data, "--not-pid", first_process(trail), "--names", "keep", "-o", model)
        text = run(iotrail, "-q", "export", "fio", model)
        found = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
        expect(f"job {name}", {key: found.get(key) for key in wanted}, wanted)
        if name == "sizes":
            shares = dict(re.findall(r"(\d+)/(\d+)", found["bssplit"].split(",")[-1]))
            expect(f"job {name}: sizes", set(shares), {"4096", "16384"})
        # What is exported does what was recorded.
        again, trail = work / f"{name}.again", work / f"{name}.again.trail"
        again.mkdir()
        (again / "job.fio").write_text(text)
        run("fio", "--create_only=1", "job.fio", cwd=again)
        run(iotrail, "-q", "record", "-o", trail, "--", "fio", "job.fio", cwd=again)
        kinds = {"read", "write"}
        bytes_of = lambda ranks: sorted(sum(row[3] for row in rank) for rank in ranks)
        of = lambda trail, directory: bytes_of(sequences(trail, directory, kinds, without=first_process(trail)))
        if name != "sizes":
            expect(f"job {name}: bytes of each process", of(trail, again), of(work / f"{name}.job.trail", files))


def c_programs(work):
    kinds = {"open", "close", "read", "write", "fsync", "fdatasync", "stat", "unlink", "rename", "mkdir", "rmdir", "truncate"}
    for name, model in models(work):
        source = work / f"{name}.c"
        run(iotrail, "-q", "export", "c", model, "-o", source)
        for compiler, ranks in (("cc", 1), ("mpicc.openmpi", RANKS), ("mpicc.mpich", RANKS)):
            program, files = work / f"{name}.{compiler}", work / f"{name}.{compiler}.files"
            files.mkdir()
            serial = ["-DSERIAL"] if compiler == "cc" else []
            run(compiler, "-O1", "-Wall", "-Wextra", "-Werror", *serial, "-o", program, source)
            launch = [] if compiler == "cc" else [*LAUNCH[compiler.split(".")[1]], "-n", ranks]
            trail = work / f"{name}.{compiler}.trail"
            command = [iotrail, "-q", "record", "-o", trail, "--", program, "-a", files]
            run(*launch, *command, cwd=work)
            wanted = plan(model, ranks, work, kinds)
            made = sequences(trail, files, kinds)
            of_rank = [(rows, next((len(own) for own in wanted if rows[-len(own) :] == own), 0)) for rows in made]
            expect(f"C {name} with {compiler}", sorted((rows[-number:] for rows, number in of_rank), key=repr), wanted)
            before = {row[0] for rows, number in of_rank for row in rows[: len(rows) - number]}
            expect(f"C {name} with {compiler}: what is made before", before - {"open", "write", "close", "unlink", "rmdir", "mkdir", "truncate"}, set())

IOR = {
    "checkpoint": "size=0.0625,slack=0.001",
    "shared-strided": "size=0.25,slack=0.001",
}


def ior_runs(work):
    kinds = {"read", "write"}
    for name, scale in IOR.items():
        model = work / f"{name}.ior.toml"
        run(iotrail, "-q", "workload", "--template", name, "--scale", scale, "-o", model)
        text = run(iotrail, "-q", "export", "ior", model, "--ranks", RANKS)
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        wanted = [sorted((kind, place, number) for kind, _, place, number in rows) for rows in plan(model, RANKS, work, kinds)]
        words = dict(re.findall(r"-(\w) (\S+)", " ".join(lines)))
        documented = []
        for rank in range(RANKS):
            rows = []
            block, transfer, segments = (int(words[key]) for key in "bts")
            for kind, flag in (("write", " -w "), ("read", " -r ")):
                for line in (line for line in lines if flag in f"{line} "):
                    for _ in range(int(re.search(r"-i (\d+)", line)[1])):
                        for segment in range(segments):
                            base = segment * block if "-F" in line else (segment * RANKS + rank) * block
                            rows += [(kind, base + at * transfer, transfer) for at in range(block // transfer)]
            documented.append(sorted(rows))
        expect(f"IOR {name}: documented layout", sorted(documented), sorted(wanted))
        if ior is None:
            continue
        files = work / f"{name}.ior"
        files.mkdir()
        made = collections.defaultdict(list)
        for at, line in enumerate(lines):
            trail = work / f"{name}.{at}.ior.trail"
            arguments = shlex.split(line.split(" ior ", 1)[1])
            run(*LAUNCH["openmpi"], "-n", RANKS, iotrail, "-q", "record", "-o", trail, "--", ior, *arguments, cwd=files)
            for rank, rows in enumerate(sequences(trail, files, kinds)):
                made[rank] += [(kind, place, number) for kind, _, place, number in rows]
        expect(f"IOR {name}: recorded", sorted(map(sorted, made.values())), sorted(wanted))


def main():
    steps = {"iolog": fio_iolog, "job": fio_job, "c": c_programs, "ior": ior_runs}
    wanted = os.environ.get("ONLY", ",".join(steps)).split(",")
    for name in wanted:
        with tempfile.TemporaryDirectory(prefix="exports-") as work:
            steps[name](Path(work).resolve())
    if shutil.which("fio") is None:
        problems.append("fio is not installed")
    print("\n".join(problems))
    print(f"exports of models: {passed} comparisons equal, {len(problems)} not")
    sys.exit(bool(problems))


main()
