"""Random scripts that make, link, rename, change and remove a few files; each command is one job.

Every second one is a Python program, which does itself what needs no bytes: links, renames, removals, permissions, directories.
The others also open files long before the commands that read and write them.
"""

import random

NAMES = ["a", "b", "c", "p/a", "p/b", "q/a"]
COMMANDS = 14


def script(seed):
    """The text of a script; equal seeds give equal scripts."""
    walk = Walk(random.Random(seed))
    return walk.program() if seed % 2 else walk.script([walk.open, walk.open, walk.through, walk.through])


# A shell that becomes a Python program whose text holds any signs.
PROGRAM = """# construct: walk
# linked: in.txt twin
# shells: dash bash
# needs: python3
program=$(cat <<'END'
import os, subprocess
def run(line):
    subprocess.run(line, shell=True, check=True)
%s
END
)
exec python3 -c "$program"
"""
# How Python says it; the words of the command are its arguments.
DEEDS = {
    "ln": "os.link({!r}, {!r})", "mv": "os.rename({!r}, {!r})", "rm": "os.remove({!r})",
    "chmod": "os.chmod({1!r}, 0o{0})",
}


class Walk:
    def __init__(self, choice):
        self.choice = choice
        # The file behind each name; names of one file are hard links.
        self.files = {"in.txt": 0, "body": 1, "twin": 0}
        self.made, self.results, self.directories = 2, 0, ["p", "q"]
        # How each descriptor was opened.
        self.opened = {}

    def script(self, more=()):
        lines = ["# construct: walk", "# linked: in.txt twin", "mkdir p q"]
        while len(lines) < COMMANDS:
            command = self.choice.choice([self.copy, self.link, self.force, self.move, self.remove, self.append, self.append, self.sort,
                                          self.truncate, self.edit, self.count, self.reverse, self.move_directory, self.permit, *more])()
            if command:
                wait = "sh -c 'sleep 0.2; %s'" if self.choice.random() < 0.4 and not command.startswith("exec") else "%s"
                lines.append(wait % command)
        lines += [f"sort {name} > last{number}" for number, name in enumerate(sorted(self.files))]
        return "\n".join(lines) + "\n"

    def program(self):
        """The same as a Python program, which leaves some of it to commands."""
        lines = []
        for line in self.script().splitlines():
            words = line.split()
            itself = words[0] in DEEDS and "-f" not in words and self.choice.random() < 0.8
            if words[0] == "mkdir":
                modes = self.choice.choices(["0o777", "0o750", "0o711"], k=2)
                lines.append(f"os.mkdir('p', {modes[0]}); os.mkdir('q', {modes[1]})")
            elif words[0] != "#":
                lines.append(DEEDS[words[0]].format(*words[1:]) if itself else f"run({line!r})")
            if self.choice.random() < 0.1:
                made = f"made{len(lines)}"
                lines += [f"os.mkdir({made!r})", f"run('cp body {made}/x; ls {made} > l{len(lines)}; rm {made}/x')", f"os.rmdir({made!r})"]
            if self.choice.random() < 0.1:
                lines.append(f"open('empty{len(lines)}', 'w').close()")
        return PROGRAM % "\n".join(lines)

    def known(self):
        return self.choice.choice(sorted(self.files))

    def name(self):
        name = self.choice.choice(NAMES)
        directory, _, rest = name.rpartition("/")
        return f"{self.choice.choice(self.directories)}/{rest}" if directory else name

    def two(self, known):
        """A name that is there, and another one of another file."""
        first, second = self.known(), self.known() if known else self.name()
        return None if self.files.get(second) == self.files[first] else (first, second)

    def new(self):
        self.made += 1
        return self.made

    def result(self):
        self.results += 1
        return f"o{self.results}"

    def copy(self):
        if two := self.two(False):
            self.files.setdefault(two[1], self.new())
            return f"cp {two[0]} {two[1]}"

    def link(self):
        if (two := self.two(False)) and two[1] not in self.files:
            self.files[two[1]] = self.files[two[0]]
            return f"ln {two[0]} {two[1]}"

    def force(self):
        if two := self.two(False):
            self.files[two[1]] = self.files[two[0]]
            return f"ln -f {two[0]} {two[1]}"

    def move(self):
        if two := self.two(False):
            self.files[two[1]] = self.files.pop(two[0])
            return f"mv {two[0]} {two[1]}"

    def remove(self):
        if len(self.files) > 3:
            name = self.known()
            del self.files[name]
            return f"rm {name}"

    def append(self):
        if two := self.two(True):
            return f"head -n 1 {two[0]} >> {two[1]}"

    def sort(self):
        return f"sort {self.known()} > {self.result()}"

    def reverse(self):
        return f"cat {self.known()} | tac > {self.result()}"

    def open(self):
        """The shell opens a file for commands to come."""
        descriptor, mode = self.choice.choice([3, 4]), self.choice.choice(["<", ">", ">>"])
        name = self.known() if mode == "<" else self.name()
        if name not in self.files:
            self.files[name] = self.new()
        self.opened[descriptor] = mode
        return f"exec {descriptor}{mode}{name}"

    def through(self):
        if self.opened:
            descriptor, mode = self.choice.choice(sorted(self.opened.items()))
            return f"head -n 1 <&{descriptor} > {self.result()}" if mode == "<" else f"sort in.txt >&{descriptor}"

    def truncate(self):
        return f"truncate -s {self.choice.randrange(9)} {self.known()}"

    def edit(self):
        name = self.known()
        self.files[name] = self.new()
        return f"sed -i 1d {name}"

    def count(self):
        return f"stat -c %h {self.known()} > {self.result()}"

    def permit(self):
        return f"chmod {self.choice.choice(['600', '644'])} {self.known()}"

    def move_directory(self):
        place = self.choice.randrange(2)
        old, new = self.directories[place], self.directories[place] + "x"
        self.directories[place] = new
        self.files = {new + name[len(old):] if name.startswith(old + "/") else name: file for name, file in self.files.items()}
        return f"mv {old} {new}"
