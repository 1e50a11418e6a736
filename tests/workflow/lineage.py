"""Where data came from, against the truth: random programs that read, write, append to, overwrite, rename, link and remove a few files,
one after the other, recorded and traced by strace.

usage: lineage.py IOTRAIL [--programs N] [--first SEED] [--keep DIR]

Known here: who moved how many bytes of which file in how many calls, and for each version of a file which files it must have come from
(what its writers had read before they wrote) and may have come from (all that its writers and those that named it ever read). The edges
of `iotrail workflow` are the former in both views; what `--ancestors` finds lies between the latter.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = "abcdef"
RECORD = ["{iotrail}", "record", "-q", "-o", "{trail}", "--"]
STRACE = ["strace", "-f", "-y", "-ttt", "-T", "-o", "{trace}"]


@dataclass(eq=False)
class Version:
    file: int
    before: "Version | None" = None
    was_there: bool = False
    kept: int = 0
    covered: int = 0
    writers: set = field(default_factory=set)
    namers: set = field(default_factory=set)
    writes: list = field(default_factory=list)

    def holds_more(self, process):
        """Whether something in it is certainly not of this process: what it has not overwritten."""
        return self.was_there or self.writers != {process} or self.covered < self.kept


class Program:
    """Processes and what they do, and what is true of it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.now = 0
        self.files = {}  # by name
        self.sizes = {}  # by number
        self.current = {}  # version by number of the file
        self.moved = collections.defaultdict(lambda: [0, 0, 0, 0])  # by process and file: bytes and calls read and written
        self.reads = collections.defaultdict(list)  # by process: versions and when
        self.perhaps = collections.defaultdict(list)  # by process: versions of which it may have read only what it wrote
        self.inputs = {}
        for name in NAMES[:2]:
            self.inputs[name] = self.random.randint(1, 40)
            self.make(name, self.inputs[name]).was_there = True
        self.processes = [self.process(number) for number in range(self.random.randint(3, 9))]

    def make(self, name, size):
        file = self.files[name] = len(self.sizes)
        self.sizes[file], self.current[file] = size, Version(file)
        return self.current[file]

    def process(self, number):
        steps = []
        for _ in range(self.random.randint(1, 5)):
            step = self.random.choice("read read read new new append append over move link remove".split())
            names = [name for name in NAMES if name in self.files]
            if step in ("new", "append", "over"):
                steps += self.write(number, step, self.random.choice(NAMES), self.random.randint(1, 60))
            elif names:
                steps += getattr(self, step)(number, self.random.choice(names))
        return steps

    def read(self, process, name):
        file = self.files[name]
        moved, version = self.moved[process, file], self.current[file]
        moved[0] += self.sizes[file]
        moved[1] += -(-self.sizes[file] // 7) + 1
        self.now += 1
        # What a process alone wrote and reads again came from nowhere else.
        if version.holds_more(process):
            self.reads[process].append((version, self.now))
        elif version.before:
            self.perhaps[process].append(version)
        return ["read", name]

    def write(self, process, step, name, size):
        if name not in self.files:
            self.make(name, 0)
        file = self.files[name]
        version = self.current[file]
        if step == "new":
            version = Version(file)
        elif version.writers - {process} or version.was_there:
            version = Version(file, before=version, kept=self.sizes[file])
        self.current[file] = version
        self.sizes[file] = {"new": size, "append": self.sizes[file] + size, "over": max(self.sizes[file], size)}[step]
        self.moved[process, file][2] += size
        self.moved[process, file][3] += 1
        if step == "over":
            version.covered = max(version.covered, size)
        self.now += 1
        version.writers.add(process)
        version.writes.append((process, self.now))
        return [step, name, str(size)]

    def move(self, process, name):
        other = self.random.choice(NAMES)
        self.current[self.files[name]].namers.add(process)
        if self.files.get(other) != self.files[name]:
            self.files[other] = self.files.pop(name)
        return ["move", name, other]

    def link(self, process, name):
        other = self.random.choice(NAMES)
        if other in self.files:
            return []
        self.current[self.files[name]].namers.add(process)
        self.files[other] = self.files[name]
        return ["link", name, other]

    def remove(self, _process, name):
        del self.files[name]
        return ["remove", name]

    def must(self, version):
        """Files whose data had been read when what leads to the version was written."""
        found, seen, left = set(), set(), [(version, self.now)]
        while left:
            version, until = left.pop()
            if (version, until) in seen:
                continue
            seen.add((version, until))
            found.add(version.file)
            if version.before and version.covered < version.kept:
                left.append((version.before, until))
            for process, at in version.writes:
                if at <= until:
                    left += [(read, when) for read, when in self.reads[process] if when < at]
        return found

    def may(self, version):
        """Files that any process read which wrote or named anything on the way."""
        found, left = set(), [version]
        while left:
            version = left.pop()
            if version in found:
                continue
            found.add(version)
            left += [version.before] if version.before else []
            for process in version.writers | version.namers:
                left += self.perhaps[process] + [read for read, _ in self.reads[process]]
        return {version.file for version in found}


class Trial:
    def __init__(self, iotrail, tool, directory, seed, how):
        self.iotrail, self.directory, self.how = iotrail, directory, how
        self.program = Program(seed)
        self.trail = directory / "run.trail"
        self.wrong = []
        work = directory / "work"
        work.mkdir(parents=True)
        for name, size in self.program.inputs.items():
            (work / name).write_bytes(b"i" * size)
        script = "".join(f"{tool} {' '.join(steps)}\n" for steps in self.program.processes if steps)
        (directory / "run.sh").write_text(script + ":\n")
        words = {"iotrail": iotrail, "trail": self.trail, "trace": directory / "trace"}
        command = [word.format(**words) for word in how] + ["sh", "../run.sh"]
        subprocess.run(command, cwd=work, check=True)
        if how is STRACE:
            subprocess.run([iotrail, "import", "-q", directory / "trace", "-o", self.trail], check=True)
        sizes = {path.name: path.stat().st_size for path in work.iterdir()}
        assert sizes == {name: self.program.sizes[file] for name, file in self.program.files.items()}, "this script is wrong"

    def graph(self, *options):
        result = subprocess.run([self.iotrail, "workflow", self.trail, "--json", *options], capture_output=True, text=True)
        if result.returncode:
            self.wrong.append(f"{' '.join(options)}: {result.stderr.strip()}")
            return None
        return json.loads(result.stdout)

    def file_of(self, vertex):
        """The number of a file of the program; it may be that of one of several that were called alike."""
        of = vertex["facts"].get("file")
        return of["file"] if of and Path(of["path"]).parent.name == "work" else None

    def compare(self):
        for view in ("version", "file"):
            graph = self.graph("--view", view)
            if graph:
                self.compare_edges(view, graph)
        if graph := self.graph():
            for name, file in self.program.files.items():
                self.compare_ancestors(graph, name, self.program.current[file])
        return self.wrong

    def compare_edges(self, view, graph):
        vertices, moved = graph["vertices"], collections.defaultdict(lambda: [0, 0, 0, 0])
        for edge in graph["edges"]:
            ends = [vertices[edge["from"]], vertices[edge["to"]]]
            file, process = ends if edge["relation"] == "read" else ends[::-1]
            if edge["relation"] in ("read", "write", "create") and self.file_of(file) is not None:
                figures = [edge["read"]["bytes"], edge["read"]["calls"], edge["written"]["bytes"], edge["written"]["calls"]]
                known = moved[process["facts"]["process"]["pid"], self.file_of(file)]
                known[:] = map(sum, zip(known, figures))
        seen = sorted(figures for figures in moved.values() if any(figures))
        true = sorted(self.program.moved.values())
        if seen != true:
            self.wrong.append(f"{view}: edges {seen}, truth {true}")

    def compare_ancestors(self, graph, name, version):
        path = str(self.directory / "work" / name)
        named = [vertex for vertex in graph["vertices"] if self.file_of(vertex) is not None
                 and path in (vertex["facts"]["file"]["path"], *vertex["facts"]["file"]["names"])]
        # Of several files that had one name, this is not the place to find out which is meant.
        if len({self.file_of(vertex) for vertex in named}) != 1:
            return
        found = self.graph("--ancestors", named[-1]["key"])
        if found:
            files = len({self.file_of(vertex) for vertex in found["vertices"]} - {None})
            least, most = len(self.program.must(version)), len(self.program.may(version))
            if not least <= files <= most:
                keys = sorted(vertex["label"] for vertex in found["vertices"] if self.file_of(vertex) is not None)
                self.wrong.append(f"{name}: comes from {files} files ({' '.join(keys)}), at least {least} and at most {most}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("iotrail", type=Path)
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    iotrail, wrong = arguments.iotrail.resolve(), 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(os.path.realpath(arguments.keep or scratch))
        scratch.mkdir(exist_ok=True)
        tool = scratch / "file_steps"
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", tool, ROOT / "tests/programs/file_steps.c"], check=True)
        seeds = range(arguments.first, arguments.first + arguments.programs)
        for seed in seeds:
            for kind, how in (("recorded", RECORD), ("traced", STRACE)):
                for text in Trial(iotrail, tool, scratch / f"{seed}.{kind}", seed, how).compare():
                    wrong += 1
                    print(f"WRONG program {seed}, {kind}: {text}")
    print(f"{len(seeds)} programs, recorded and traced: {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
