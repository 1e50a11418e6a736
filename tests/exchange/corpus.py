"""Small workflows, recorded, exported and built again: each gives the same files, or the export says why not.

usage: corpus.py IOTRAIL [--shells dash,bash,busybox] [--tools make,make-j4,make-late,snakemake] [--only REGEX]... [--sample N] [--walks FIRST,COUNT] [--keep DIR]

The workflows are the scripts of `corpus/`, each for one construct of the shell. Every one is recorded under each shell that
has the construct, exported as a makefile and a Snakefile, and run again in a directory that holds nothing but the inputs.
In a script, `# record:` are options of the recorder, `# output: FILE` is where the output of the whole recording goes, `# whole: no`
says that its commands are separate jobs, `# linked: FILE NAME` that the input has another name before, `# below: DIRECTORY/FILE ...` that
copies of in.txt lie there before, `# symbolic: TARGET NAME ...` that
symbolic links lie there before, `# appears: FILE` that a file is put there, and `# switched: TARGET NAME` that a symbolic link leads elsewhere, `# then: COMMAND` and `# undo: COMMAND` what somebody does there and takes back, `# precious: FILE` that somebody puts a file there, `# taken: FILES` that somebody's files lie there
before it is built for the first time, `# away: DIRECTORY` that a link lies in its place, `# changes: FILE` that it is the input that changes, `# becomes: LINES` what it holds then, `# older: yes` that it is older then, `# deletes: FILE` that it is the output that is deleted,
before it is built once more (see `reruns.py`), `# trials: unchanged` that it is only built once more as it is (`clean` moves no directory of before back, and the times of directories are not those that a job found), `# silent: yes` that no
remark may give leave to differ, `# refuses: no` that no build after a change is refused, and `# old: FILES` lie in the directory before, with other contents and dates in the
future. `# in:` is the directory below that of the inputs in which it is recorded, `# at:` the one in which it is built again (by
default the same), `# through: link` that the recorder is started through a symbolic link, `# place:` the name of the clean
directory (each of several makes a workflow of its own), `# umask:` that of the recording, `# apart: JOBS` that it has so many jobs and none is a manager as a whole.
`make-late` is `make -j4` whose jobs each begin with a sleep of random length. All files are compared byte for byte, and their permissions. `equal`: the same files. `refused`: the export was refused, or it differs and a remark
about what is not exported says so on stderr and in the file; that the results of jobs depend on the times of files gives leave for what
these jobs and those behind them make, and for nothing else. Everything else is WRONG and fails. With --sample N, every
N-th workflow is built by the tools other than make, and recorded under the shells other than the first. With --walks, COUNT
random scripts of `walks.py` are tried as well, the first of which has the number FIRST.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import walks

HERE = pathlib.Path(__file__).resolve().parent
SHELLS = {"dash": ["dash"], "bash": ["bash"], "busybox": ["busybox", "sh"]}
MAKE = {"make": ["make"], "make-j4": ["make", "-j4"], "make-late": ["make", "-j4"]}
# What each job begins with where jobs shall begin in any order that the makefile allows.
LATE = """sleep 0.$$(od -An -N1 -tu1 /dev/urandom | tr -d " "); """
# What a remark says that gives leave to differ; that a command failed, or that a manager is one job, gives none.
LEAVE = re.compile(r"cannot be run|exchange data both ways|must be there before|not exported|end of job|in which the jobs run")
TIMES = re.compile(r"results? of jobs? ([0-9, ]+?)(?: and ([0-9]+) more)? depends? on the times of files")
# A date in seconds, of the year 2026: inputs have the same times in the recording and in what is built again.
PAST = 1767225600
# A date in seconds, of the year 2100.
FUTURE = 4102444800
FILES = {
    "in.txt": "bb k\naa\nb\na\n",
    "body": "b\na\n",
    "header": "h\n",
    "keep.txt": "kept\n",
    "mixed.txt": "b\nB\na\nA\n_\n",
    "tool.sh": "#!/bin/sh\ntr a-z A-Z < \"$1\"\n",
    "tool3.sh": "sort in.txt >&3\n",
    "tool4.sh": "sort <&4\n",
    "both.sh": "cat header\ncat body >&2\n",
    "greet.sh": "printenv GREETING\n",
    "worker.sh": "trap 'cp header ended; exit 0' TERM\ni=0\nwhile [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done\ncp body late\n",
    "step1.sh": "sort in.txt > one\ncp one tmp\nsleep 0\n",
    "step2.sh": "cat one body > two\nsleep 0\n",
    "up.py": "import sys\nopen(sys.argv[2], 'w').write(open(sys.argv[1]).read().upper())\n",
    "publish.py": "import os, sys\nout = open('scratch', 'w')\nout.write(open('header').read())\nout.close()\nos.rename('scratch', 'o')\n",
    "exchange.py": "import ctypes, os, sys\none, other = (os.fsencode(name) for name in sys.argv[1:])\n"
                   "if ctypes.CDLL(None, use_errno=True).renameat2(-100, one, -100, other, 2):\n    raise OSError(ctypes.get_errno(), 'renameat2')\n",
    "mp.py": "import multiprocessing\ndef work(n):\n    with open('in.txt') as f, open(f'part{n}', 'w') as g:\n        g.write(f.read() * (n + 1))\n"
             "if __name__ == '__main__':\n    with multiprocessing.get_context('fork').Pool(2) as pool:\n        pool.map(work, range(3))\n",
    "sp.py": "import subprocess\nsubprocess.run(['sort', '-o', 'sub.txt', 'in.txt'], check=True)\n"
             "subprocess.run(['tee', 'sent.txt'], input=b'x y', stdout=subprocess.DEVNULL, check=True)\n",
    "cwd.py": "import os, subprocess\nsubprocess.run(['sort', '-o', 'out', '../in.txt'], cwd='sub', env={**os.environ, 'LC_ALL': 'C', 'X': 'y'}, check=True)\n"
              "subprocess.run('sort body > \"$X\"', shell=True, env={**os.environ, 'X': 'named'}, check=True)\n",
    "Snakefile.r": "rule all:\n    input: 'b'\nrule first:\n    input: 'in.txt'\n    output: 'a'\n    shell: 'sleep 0.3; sort {input} > {output}'\n"
                   "rule second:\n    input: 'a'\n    output: 'b'\n    shell: 'uniq -c {input} | tac > {output}'\n",
    "popen.py": "import subprocess as s\np = s.Popen(['sort', 'in.txt'], stdout=s.PIPE)\nq = s.Popen(['uniq', '-c'], stdin=p.stdout, stdout=s.PIPE)\n"
                "r = s.Popen(['tac'], stdin=q.stdout, stdout=open('out', 'w'))\np.stdout.close()\nq.stdout.close()\nr.wait()\nq.wait()\np.wait()\n"
                "s.run(['cp', 'out', 'copy'], check=True)\n",
    "shim.sh": "version=$(head -n 1 header)\nSHIM=$version; export SHIM\nexec python3 popen.py\n",
    "made.py": "import os, shutil, subprocess\nrun = lambda line: subprocess.run(line, shell=True, check=True)\nrun('ls > before')\nos.mkdir('out')\nos.makedirs('private/x', 0o750)\n"
               "os.chmod('private', 0o711)\nrun('sort in.txt > out/a; ls > after; stat -c %a private/x > mode')\nos.mkdir('tmp')\nrun('sort body > tmp/b')\n"
               "run('cat out/a tmp/b > c')\nshutil.rmtree('tmp')\nrun('test -d tmp && cp c wrong || cp c right')\nos.mkdir('late')\nrun('cp c late/c')\nos.rename('late', 'moved')\n"
               "run('cp moved/c d')\nos.remove('d')\nopen('empty', 'w').close()\nos.link('c', 'twin')\nrun('ls > last')\n",
    "Snakefile.m": "rule all:\n    input: 'b', 'b.done', 'p', 'deep/er/c'\nrule first:\n    input: 'in.txt'\n    output: temp('a')\n    shell: 'sort {input} > {output}'\n"
                   "rule second:\n    input: 'a'\n    output: 'b', touch('b.done')\n    shell: 'uniq -c {input} > b'\n"
                   "rule third:\n    input: 'b'\n    output: protected('p')\n    shell: 'tac {input} > {output}'\n"
                   "rule fourth:\n    input: 'b.done', 'b'\n    output: 'deep/er/c'\n    shell: 'cat {input} > {output}'\n",
    "Makefile.s": "all: out\nstamp: in.txt\n\ttouch stamp\nout: stamp\n\tsort in.txt > out\n",
    "Makefile.t": "all: zz out\nzz: in.txt\n\tsort in.txt > zz; echo made zz\nout: zz body\n\tcat zz body > out; echo made out\n",
    "Makefile.c": "all: made1 made2\nmade1: in.txt\n\tsort in.txt > made1\nmade2: body\n\techo first > made2\n\tcat body >> made2\n",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("iotrail", type=pathlib.Path)
    parser.add_argument("--shells", default="dash,bash,busybox")
    parser.add_argument("--tools", default="make,make-j4,make-late,snakemake")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--walks", default="0,0")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.iotrail = arguments.iotrail.resolve()
    shells = [shell for shell in arguments.shells.split(",") if shutil.which(SHELLS[shell][0])]
    tools = arguments.tools.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = arguments.keep or pathlib.Path(scratch)
        cases = list(choose(arguments, shells, scratch))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda case: case.record(arguments.iotrail), cases))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda case: [case.make(tool) for tool in tools if tool in MAKE and (tool != "make-late" or case.sampled)], cases))
        if "snakemake" in tools:
            with_snakemake([case for case in cases if case.sampled])
    sys.exit(report(cases, shells, tools))


def choose(arguments, shells, scratch):
    scripts = sorted((HERE / "corpus").glob("*.sh")) + list(random_scripts(arguments, scratch))
    for number, script in enumerate(scripts):
        text = script.read_text()
        said = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
        if arguments.only and not any(re.search(pattern, script.stem) for pattern in arguments.only):
            continue
        if any(not shutil.which(tool) for tool in said.get("needs", "").split()):
            continue
        own = [shell for shell in shells if shell in said.get("shells", "dash bash busybox").split()]
        places = re.findall(r"^# place: (.*)$", text, re.MULTILINE) or ["clean"]
        for place, shell in enumerate(own):
            sampled = number % arguments.sample == 0
            if place == 0 or sampled:
                for count, name in enumerate(places):
                    yield Case(script, {**said, "place": name}, shell, scratch / f"{script.stem}.{count}.{shell}", sampled)


def random_scripts(arguments, scratch):
    first, count = map(int, arguments.walks.split(","))
    for number in range(first, first + count):
        script = scratch / f"walk-{number}.sh"
        script.write_text(walks.script(number))
        yield script


class Case:
    def __init__(self, script, said, shell, directory, sampled):
        self.script, self.shell, self.directory, self.sampled = script, shell, directory, sampled
        self.construct, self.options, self.may_be_whole = said["construct"], said.get("record", "").split(), said.get("whole") != "no"
        self.output, self.old = said.get("output"), said.get("old", "").split()
        self.inside, self.through, self.place = said.get("in", "."), "through" in said, said["place"]
        self.at = said.get("at", self.inside)
        self.symbolic = said.get("symbolic", "").split()
        self.trials = said.get("trials")
        self.precious, self.linked_away = said.get("precious"), said.get("away")
        self.deletes = said.get("deletes")
        self.becomes = "".join(f"{line}\n" for line in said.get("becomes", "").split())
        self.older = "older" in said
        self.then, self.undo = said.get("then"), said.get("undo")
        self.taken, self.changes = said.get("taken", "").split(), said.get("changes")
        self.appears, self.switched = said.get("appears"), said.get("switched", "").split()
        self.below = shlex.split(said.get("below", ""))
        self.linked, self.silent = said.get("linked", "").split(), said.get("silent") == "yes"
        self.umask, self.apart = int(said.get("umask", "022"), 8), said.get("apart")
        self.refuses = said.get("refuses") != "no"
        self.results, self.remarks, self.whole, self.refused = {}, {}, False, {}
        self.name = f"{script.stem} ({shell})"

    def clean(self, place):
        """A directory with the inputs, and the old files; where in it the jobs run."""
        start = self.prepare(place)
        for name in self.old:
            (place / name).write_text("of another time\n")
            os.utime(place / name, (FUTURE, FUTURE))
        return start

    def prepare(self, place):
        place.mkdir(parents=True)
        for name, text in FILES.items():
            (place / name).write_text(text)
            os.utime(place / name, (PAST, PAST))
        for name in self.below:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(place / "in.txt", place / name)
        (place / self.inside).mkdir(parents=True, exist_ok=True)
        shutil.copy(self.script, place / self.inside / "run.sh")
        if self.linked:
            os.link(place / self.linked[0], place / self.linked[1])
        for target, name in zip(self.symbolic[::2], self.symbolic[1::2]):
            os.symlink(target, place / name)
        return place / self.at

    def record(self, iotrail):
        work = self.directory / "recorded"
        self.prepare(work)
        trail = self.directory / "t.trail"
        command = [iotrail, "-q", "record", "-o", trail, *self.options, "--", *SHELLS[self.shell], "run.sh"]
        start, variables = work / self.inside, {}
        if self.through:
            os.symlink(work, self.directory / "link")
            start = self.directory / "link" / self.inside
            variables = {"PWD": str(start)}
        done = run(command, start, self.output, variables, self.umask)
        if not trail.exists():
            sys.exit(f"FAILED: {self.name} was not recorded: {done.stderr}")
        self.files = contents(work)
        if self.output and not (work / self.output).read_bytes():
            self.files.pop(self.output)
        for format, name in (("makefile", "w.mk"), ("snakemake", "w.smk")):
            done = run([iotrail, "workflow", trail, "--format", format, "-o", self.directory / name], self.directory)
            self.remarks[format] = done.stderr
            self.whole = self.whole or "workflow manager as a whole" in done.stderr
            if done.returncode != 0:
                self.refused[format] = done.stderr.strip().splitlines()[-1]
            elif missing := undefined((self.directory / name).read_text(errors="surrogateescape")):
                self.results[f"functions of {format}"] = ("WRONG", f"called and not defined: {sorted(missing)}")
        for format, remarks in self.remarks.items():
            for leave in (LEAVE, TIMES):
                if self.silent and leave.search(remarks):
                    self.results[f"remarks of {format}"] = ("WRONG", next(line for line in remarks.splitlines() if leave.search(line)))
        if self.whole and (self.apart or not self.may_be_whole):
            self.results["jobs"] = ("WRONG", next(line for line in done.stderr.splitlines() if "as a whole" in line))
        if self.apart and (found := len(re.findall("^# job [0-9]+: ", (self.directory / "w.mk").read_text(), re.MULTILINE))) != int(self.apart):
            self.results["number of jobs"] = ("WRONG", f"{found} jobs, not {self.apart}")
        if any(TIMES.search(remarks) for remarks in self.remarks.values()):
            run([iotrail, "-q", "workflow", trail, "--format", "wfformat", "-o", self.directory / "w.wf.json"], self.directory)

    def make(self, tool):
        if "makefile" in self.refused:
            self.results[tool] = ("refused", self.refused["makefile"])
            return
        clean = self.directory / tool / self.place
        makefile = self.directory / "w.mk"
        if tool == "make-late":
            text = makefile.read_text(errors="surrogateescape").replace(".SHELLFLAGS := -c '", f".SHELLFLAGS := -c '{LATE}", 1)
            makefile = self.directory / "late.mk"
            makefile.write_text(text, errors="surrogateescape")
            assert LATE in text
        done = run([*MAKE[tool], "-s", "-f", makefile], self.clean(clean))
        self.judge(tool, "makefile", clean, done.returncode, done.stderr)

    def judge(self, tool, format, clean, code, errors):
        found = contents(clean)
        different = sorted(name for name in self.files.keys() | found.keys() if self.files.get(name) != found.get(name))
        leave = LEAVE.search(self.remarks[format])
        times = TIMES.search(self.remarks[format])
        if code == 0 and not different:
            self.results[tool] = ("equal", "")
        elif leave:
            line = next(line for line in self.remarks[format].splitlines() if LEAVE.search(line))
            self.results[tool] = ("refused", line)
        elif code == 0 and times and all(identifier(name) in self.behind(times) for name in different):
            self.results[tool] = ("refused", times[0])
        else:
            what = f"ended with {code}: {errors.strip()[-300:]}" if code else f"exit code 0, other files: {different}"
            self.results[tool] = ("WRONG", what)

    def behind(self, times):
        """Identifiers of the files that the jobs of a remark about times make, and those that need them."""
        specification = json.loads((self.directory / "w.wf.json").read_text())["workflow"]["specification"]
        tasks = specification["tasks"]
        found = {task["id"] for number, task in enumerate(tasks, 1) if times[2] or str(number) in times[1].split(", ")}
        while more := {child for task in tasks if task["id"] in found for child in task["children"]} - found:
            found |= more
        return {name for task in tasks if task["id"] in found for name in task["outputFiles"]}


def undefined(text):
    """Functions of the shell that an exported file calls and does not define."""
    called = re.findall(r"(?:^\t@?|&& |; |\|\| |\$\(|then |do )(_[a-z_]+)\b(?!\()", text, re.MULTILINE)
    return set(called) - set(re.findall(r"(_[a-z_]+)\(\)", text))


def identifier(name):
    """A name as the file's identifier in WfFormat."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def contents(place):
    """Every file with what is in it, but for what the tools keep for themselves."""
    found = {}
    for directory, directories, names in os.walk(place):
        directories[:] = [name for name in directories if name not in (".iotrail", ".snakemake", "__pycache__")]
        for name in names + [name for name in directories if os.path.islink(os.path.join(directory, name))]:
            path = os.path.join(directory, name)
            inside = os.path.relpath(path, place)
            if os.path.islink(path):
                found[inside] = ("link", os.readlink(path).replace(str(place), "."))
            elif os.path.isfile(path):
                found[inside] = ("file", os.stat(path).st_mode & 0o777, open(path, "rb").read())
            else:
                found[inside] = ("other", b"")
        for name in directories:
            path = os.path.join(directory, name)
            found.setdefault(os.path.relpath(path, place), ("directory", os.stat(path).st_mode & 0o777))
    return found


SNAKEMAKE = r"""
import os, sys
import snakemake
for line in sys.stdin:
    snakefile, directory, log = line.rstrip("\n").split("\t")
    os.chdir(directory)
    with open(log, "w") as out:
        sys.stderr.flush()
        os.dup2(out.fileno(), 2)
        fine = snakemake.snakemake(snakefile, cores=2, workdir=directory, quiet=True, printreason=False)
    print(f"{int(fine)}\t{directory}", flush=True)
"""


def with_snakemake(cases):
    """All in one process of Snakemake's own Python, which takes long to start."""
    python = "/usr/bin/python3"
    probe = subprocess.run([python, "-c", "import snakemake; snakemake.snakemake"], capture_output=True, check=False)
    process = None
    if probe.returncode == 0:
        process = subprocess.Popen([python, "-c", SNAKEMAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    elif not shutil.which("snakemake"):
        print("NOT TESTED: Snakemake is not installed", file=sys.stderr)
        return
    for case in cases:
        if "snakemake" in case.refused:
            case.results["snakemake"] = ("refused", case.refused["snakemake"])
            continue
        clean, log = case.directory / "snakemake" / case.place, case.directory / "snakemake.log"
        start = case.clean(clean)
        if process:
            process.stdin.write(f"{case.directory / 'w.smk'}\t{start}\t{log}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            while answer and not answer.endswith(f"\t{start}\n"):
                answer = process.stdout.readline()
            code, errors = (0 if answer.startswith("1") else 1), log.read_text()
        else:
            done = run(["snakemake", "-s", case.directory / "w.smk", "--cores", "2", "-q"], start)
            code, errors = done.returncode, done.stderr
        case.judge("snakemake", "snakemake", clean, code, errors)
    if process:
        process.stdin.close()
        process.wait()


def run(command, place, output=None, variables=(), umask=-1):
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GREETING")}
    # The interpreter itself, not a script of a version manager that would change the environment.
    environment["PATH"] = f"{pathlib.Path(sys.executable).resolve().parent}{os.pathsep}{environment['PATH']}"
    environment.update(variables)
    try:
        with open(place / output, "w") if output else contextlib.nullcontext(subprocess.PIPE) as stdout:
            return subprocess.run([str(word) for word in command], cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=stdout,
                                  stderr=subprocess.PIPE, text=True, errors="replace", timeout=120, check=False, umask=umask)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "took more than two minutes")


def report(cases, shells, tools):
    rows = collections.defaultdict(collections.Counter)
    for case in cases:
        for tool, (result, _) in case.results.items():
            rows[case.construct][(case.shell, tool, result)] += 1
    columns = [(shell, tool) for shell in shells for tool in tools]
    print(f"{'construct':24}" + "".join(f"{shell + ' ' + tool:>18}" for shell, tool in columns))
    for construct, counts in sorted(rows.items()):
        cells = []
        for shell, tool in columns:
            cell = " ".join(f"{counts[(shell, tool, result)]}{sign}" for result, sign in (("equal", "="), ("refused", "r"), ("WRONG", "!"))
                            if counts[(shell, tool, result)])
            cells.append(f"{cell or '-':>18}")
        print(f"{construct:24}" + "".join(cells))
    total = collections.Counter(result for case in cases for result, _ in case.results.values())
    for case in cases:
        for tool, (result, why) in case.results.items():
            if result != "equal":
                print(f"{result} {case.name} {tool}: {why}")
    whole = sum(case.whole for case in cases)
    print(f"{len(cases)} recordings of {len({case.script for case in cases})} workflows, {sum(total.values())} rebuilds: {total['equal']} equal, "
          f"{total['refused']} refused, {total['WRONG']} WRONG; {whole} recordings are one job as a whole")
    return 1 if total["WRONG"] or total["refused"] * 5 > sum(total.values()) else 0


if __name__ == "__main__":
    main()
