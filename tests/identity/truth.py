"""Which file each call is about, against the truth: random sequences of open, link, symlink, rename, unlink, mkdir, chdir and more are
done here, where every file is kept open so that its inode tells it from all others, and then by a program (tests/programs/file_names.c)
that is recorded, or traced by strace in several ways. Files of the trail and true files must correspond one to one.

usage: truth.py IOTRAIL [--sequences N] [--first SEED] [--steps N] [--keep] [MODE...]
"""
import argparse
import csv
import ctypes
import errno
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = ["{iotrail}", "record", "-q", "-o", "{trail}", "--"]
STRACE = ["strace", "-o", "{trace}"]
# How to run it, and which links are there before: a trace tells nothing of those, and a recorder looks at what is opened only. Where hard
# links are there before, a file may be several in the trail, which are counted, but several are never one.
MODES = {
    "record": (RECORD, "soft"),
    "record-hard": (RECORD, "hard"),
    "plain": (STRACE + ["-f"], ""),
    "y": (STRACE + ["-f", "-y"], ""),
    "v": (STRACE + ["-f", "-v"], ""),
    "v-hard": (STRACE + ["-f", "-v"], "hard"),
    "yv": (STRACE + ["-f", "-y", "-v", "-ttt", "-T"], ""),
    "ff": (STRACE + ["-ff", "-y", "-ttt"], ""),
    "ff-plain": (STRACE + ["-ff", "-ttt"], ""),
}
CALLS = {
    "o": "openat", "p": "openat", "w": "write", "d": "dup", "c": "close", "L": "link", "l": "linkat", "q": "linkat", "e": "linkat",
    "S": "symlink", "s": "symlinkat", "R": "rename", "r": "renameat2", "U": "unlink", "u": "unlinkat", "M": "mkdir", "m": "mkdirat",
    "k": "chdir", "K": "fchdir", "t": "newfstatat", "f": "fstat", "g": "getcwd",
}
NAMES = ["a", "b", "c", "d", "e"]
AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW, AT_REMOVEDIR = 0x100, 0x400, 0x200
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2


LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100


def linkat(at, old, to, new, follow):
    """os.link leaves following to the kernel's link(2), which does not."""
    words = [AT_FDCWD if at is None else at, os.fsencode(old), AT_FDCWD if to is None else to, os.fsencode(new)]
    if LIBC.linkat(*words, AT_SYMLINK_FOLLOW if follow else 0) != 0:
        raise OSError(ctypes.get_errno(), "linkat")


def renameat2(at, old, to, new, flags):
    words = [AT_FDCWD if at is None else at, os.fsencode(old), AT_FDCWD if to is None else to, os.fsencode(new)]
    if LIBC.renameat2(*words, flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


class World:
    """Does commands and notes the file of each."""

    def __init__(self, seed, directory, links_before):
        self.links = links_before
        self.random = random.Random(seed)
        self.root = directory
        self.slots = {}
        self.next_slot = 0
        self.kept = {}
        self.commands, self.truth = [], []
        # Whether absolute names are used: then the trace shows where it began.
        self.absolute = self.random.random() < 0.5
        self.before(links_before)

    def before(self, links):
        chance = self.random
        for name in chance.sample(NAMES, 3):
            if chance.random() < 0.4:
                os.mkdir(name)
                Path(name, chance.choice(NAMES)).write_text("")
            else:
                Path(name).write_text("")
        for _ in range(chance.randrange(4) if links else 0):
            try:
                if links == "hard":
                    os.link(chance.choice(NAMES), chance.choice(NAMES) + "/" + chance.choice(NAMES))
                else:
                    os.symlink(self.path(), chance.choice(NAMES))
            except OSError:
                pass

    def path(self):
        chance = self.random
        parts = [chance.choice(NAMES) for _ in range(chance.choice([1, 1, 1, 2, 2, 3]))]
        if chance.random() < 0.6:
            parts = self.present(".", 3) or parts
        if chance.random() < 0.15:
            parts.insert(chance.randrange(len(parts) + 1), "..")
        if self.absolute and chance.random() < 0.3:
            return "/".join([self.root, *parts])
        return "/".join(parts)

    def present(self, directory, depth):
        """The components of a path that leads to something."""
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            return []
        if not names or depth == 0:
            return []
        name = self.random.choice(names)
        return [name, *(self.present(f"{directory}/{name}", depth - 1) if self.random.random() < 0.6 else [])]

    def keep(self, fd_or_path, directory=None, follow=True):
        """The number of a file, which is kept open, so that no other gets its inode."""
        if isinstance(fd_or_path, int):
            found = os.stat(f"/proc/self/fd/{fd_or_path}")
            path, flags = f"/proc/self/fd/{fd_or_path}", os.O_PATH
            if (found.st_dev, found.st_ino) not in self.kept:
                os.open(path, flags)
        else:
            held = os.open(fd_or_path, os.O_PATH | (0 if follow else os.O_NOFOLLOW), dir_fd=directory)
            found = os.fstat(held)
            if (found.st_dev, found.st_ino) in self.kept:
                os.close(held)
        return self.kept.setdefault((found.st_dev, found.st_ino), len(self.kept))

    def kept_if_there(self, path, directory):
        try:
            return self.keep(path, directory, False)
        except OSError:
            return None

    def do(self, words, act):
        """Does a command; the action answers its file, or the two of an exchange."""
        self.commands.append(" ".join(str(word) for word in words))
        try:
            files, failed = act(), None
        except OSError as error:
            files, failed = None, errno.errorcode[error.errno]
        self.truth.append((words[0], files, failed))

    def base(self):
        """The slot of a directory, or that of the working directory."""
        chosen = [slot for slot, (fd, what) in self.slots.items() if what == "directory"]
        if chosen and self.random.random() < 0.3:
            slot = self.random.choice(chosen)
            return slot, self.slots[slot][0]
        return -1, None

    def step(self):
        kinds = {"open": 6, "write": 4, "stat": 3, "link": 3, "symlink": 3, "rename": 5, "unlink": 3, "mkdir": 2, "chdir": 2, "dup": 1,
                 "close": 1, "hold": 1, "temporary": 1, "fchdir": 1, "fstat": 1, "reopen": 1, "linkfd": 2, "exchange": 2, "chain": 1}
        kind = self.random.choices(list(kinds), kinds.values())[0]
        getattr(self, kind)()

    def opened(self, words, open_it, what="file"):
        def act():
            fd = open_it()
            self.slots[slot] = (fd, what)
            return self.keep(fd)
        slot = self.next_slot = (self.next_slot + 1) % 64
        self.slots.pop(slot, None)
        self.do([words[0], slot, *words[1:]], act)

    def open(self):
        chance, (slot, at) = self.random, self.base()
        flags = os.O_RDWR | chance.choice([0, 0, os.O_CREAT, os.O_CREAT, os.O_CREAT | os.O_TRUNC, os.O_CREAT | os.O_EXCL, os.O_NOFOLLOW])
        path = self.path()
        self.opened(["o", slot, flags, path], lambda: os.open(path, flags, 0o644, dir_fd=at))

    def temporary(self):
        slot, at = self.base()
        path = self.random.choice([".", self.path()])
        flags = os.O_RDWR | os.O_TMPFILE
        self.opened(["o", slot, flags, path], lambda: os.open(path, flags, 0o644, dir_fd=at))

    def hold(self):
        (slot, at), path = self.base(), self.random.choice([".", self.path(), self.path()])
        flags = os.O_RDONLY | os.O_DIRECTORY
        self.opened(["o", slot, flags, path], lambda: os.open(path, flags, dir_fd=at), "directory")

    def fd(self, what=None):
        chosen = [slot for slot, (_, kind) in self.slots.items() if what in (None, kind)]
        return self.random.choice(chosen) if chosen else None

    def write(self):
        slot = self.fd("file")
        if slot is not None:
            self.do(["w", slot], lambda: (os.write(self.slots[slot][0], b"x"), self.keep(self.slots[slot][0]))[1])

    def fstat(self):
        slot = self.fd()
        if slot is not None:
            self.do(["f", slot], lambda: self.keep(self.slots[slot][0]))

    def reopen(self):
        slot = self.fd("file")
        if slot is not None:
            path = f"/proc/self/fd/{self.slots[slot][0]}"
            self.opened(["p", slot], lambda: os.open(path, os.O_RDWR))

    def dup(self):
        slot = self.fd()
        if slot is None:
            return
        copy = self.next_slot = (self.next_slot + 1) % 64
        fd, what = self.slots[slot]
        number = self.keep(fd)
        self.slots[copy] = (os.dup(fd), what)
        self.do(["d", slot, copy], lambda: number)

    def close(self):
        slot = self.fd()
        if slot is None:
            return
        # A child may use it after its parent.
        fd, _ = self.slots.pop(slot)
        number = self.keep(fd)
        self.do(["c", slot], lambda: number)

    def stat(self):
        (slot, at), path, follow = self.base(), self.path(), self.random.random() < 0.6
        flags = 0 if follow else AT_SYMLINK_NOFOLLOW
        self.do(["t", slot, path, flags], lambda: self.keep(path, at, follow))

    def link(self):
        (one, at), (other, to), old, new = self.base(), self.base(), self.path(), self.path()
        follow = self.random.random() < 0.3

        def act():
            linkat(at, old, to, new, follow)
            return self.keep(new, to, False)
        if one == other == -1 and not follow and self.random.random() < 0.5:
            self.do(["L", old, new], act)
        else:
            self.do(["l", one, old, other, new, AT_SYMLINK_FOLLOW if follow else 0], act)

    def linkfd(self):
        slot, (other, to), new = self.fd("file"), self.base(), self.path()
        if slot is None:
            return
        fd = self.slots[slot][0]

        def act():
            linkat(None, f"/proc/self/fd/{fd}", to, new, True)
            return self.keep(new, to, False)
        self.do([self.random.choice("qe"), slot, other, new], act)

    def symlink(self):
        (slot, at), target, path = self.base(), self.path(), self.path()

        def act():
            os.symlink(target, path, dir_fd=at)
            return self.keep(path, at, False)
        if slot == -1 and self.random.random() < 0.5:
            self.do(["S", target, path], act)
        else:
            self.do(["s", target, slot, path], act)

    def rename(self):
        (one, at), (other, to), old, new = self.base(), self.base(), self.path(), self.path()
        # Of two names of one file both stay, which nobody can know of links that were there before.
        if self.links == "hard" and None is not self.kept_if_there(old, at) == self.kept_if_there(new, to):
            return

        flags = self.random.choice([0, 0, RENAME_NOREPLACE])

        def act():
            number = self.kept_if_there(old, at)
            self.kept_if_there(new, to)
            renameat2(at, old, to, new, flags)
            return number
        if one == other == -1 and not flags and self.random.random() < 0.5:
            self.do(["R", old, new], act)
        else:
            self.do(["r", one, old, other, new, flags], act)

    def exchange(self):
        (one, at), (other, to), old, new = self.base(), self.base(), self.path(), self.path()

        def act():
            number = self.kept_if_there(old, at)
            self.kept_if_there(new, to)
            renameat2(at, old, to, new, RENAME_EXCHANGE)
            return number
        self.do(["r", one, old, other, new, RENAME_EXCHANGE], act)

    def chain(self):
        """A link to a link, and a look at what they lead to."""
        (slot, at), first, second = self.base(), *self.random.sample(NAMES, 2)
        target = self.path()
        for leads_to, path in [(target, first), (first, second)]:
            def act(leads_to=leads_to, path=path):
                os.symlink(leads_to, path, dir_fd=at)
                return self.keep(path, at, False)
            self.do(["s", leads_to, slot, path], act)
        self.do(["t", slot, second, 0], lambda: self.keep(second, at, True))

    def unlink(self):
        (slot, at), path = self.base(), self.path()
        is_directory = self.random.random() < 0.2

        def act():
            number = self.kept_if_there(path, at)
            (os.rmdir if is_directory else os.unlink)(path, dir_fd=at)
            return number
        if slot == -1 and not is_directory and self.random.random() < 0.5:
            self.do(["U", path], act)
        else:
            self.do(["u", slot, path, AT_REMOVEDIR if is_directory else 0], act)

    def mkdir(self):
        (slot, at), path = self.base(), self.path()

        def act():
            os.mkdir(path, 0o755, dir_fd=at)
            return self.keep(path, at, False)
        self.do(["M", path] if slot == -1 and self.random.random() < 0.5 else ["m", slot, path], act)

    def chdir(self):
        path = self.random.choice([self.path(), "..", self.root if self.absolute else ".."])
        # Names stay below the directory that is looked at.
        try:
            is_below = os.path.realpath(path).startswith(self.root)
        except OSError:
            is_below = False
        if is_below:
            self.do(["k", path], lambda: (os.chdir(path), self.keep(".", None))[1])

    def fchdir(self):
        slot = self.fd("directory")
        if slot is not None:
            fd = self.slots[slot][0]
            self.do(["K", slot], lambda: (os.fchdir(fd), self.keep(fd))[1])

    def sequence(self, steps):
        if self.absolute:
            self.do(["g"], lambda: None)
        while steps > 0:
            if steps > 8 and self.random.random() < 0.04:
                inner = self.random.randrange(2, 8)
                slots, here = dict(self.slots), os.open(".", os.O_PATH)
                self.commands.append("{")
                for _ in range(inner):
                    self.step()
                self.commands.append("}")
                self.slots = slots
                os.fchdir(here)
                steps -= inner
            else:
                self.step()
                steps -= 1


def lay_out(directory, world_seed, links):
    """The files that are there before, once more in a fresh directory."""
    here = os.getcwd()
    os.chdir(directory)
    World(world_seed, str(directory), links)
    os.chdir(here)


def compiled(directory):
    program = directory / "file_names"
    source = ROOT / "tests" / "programs" / "file_names.c"
    subprocess.run(["cc", "-O1", "-static", "-o", program, source], check=True)
    return program


def imagine(seed, steps, directory, links):
    """The commands of a seed and their truth."""
    directory.mkdir(parents=True)
    os.chdir(directory)
    world = World(seed, str(directory), links)
    world.sequence(steps)
    os.chdir("/")
    for fd in list(os.listdir("/proc/self/fd")):
        if int(fd) > 2:
            try:
                os.close(int(fd))
            except OSError:
                pass
    return world.commands, world.truth


def events(iotrail, trail):
    done = subprocess.run([iotrail, "events", trail, "--json"], check=True, capture_output=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    rows.sort(key=lambda row: (row["start_ns"], row["seq"]))
    places = [at for at, row in enumerate(rows) if (row["path"] or "").startswith("/iotrail-")]
    calls = set(CALLS.values())
    return [row for row in rows[places[0] + 1:places[-1]] if row["call"] in calls]


def judge(truth, seen, may_split):
    """What is wrong, how many events were compared, of how many files, and how many of these are several in the trail."""
    if [CALLS[kind] for kind, *_ in truth] != [row["call"] for row in seen]:
        return "other calls than expected", 0, 0, 0
    of_file, of_number, compared, split = {}, {}, 0, set()
    for at, ((kind, file, failed), row) in enumerate(zip(truth, seen)):
        if failed != row["errno"]:
            return f"command {at} failed with {row['errno']}, not {failed}", 0, 0, 0
        if file is None:
            continue
        compared += 1
        number = row["file"]
        if of_file.setdefault(file, number) != number:
            split.add(file)
        if file in split and not may_split or of_number.setdefault(number, file) != file:
            why = f"command {at} ({row['call']} of {row['path']}): file {number} is not file {file}"
            return why, compared, len(of_file), len(split)
    return None, compared, len(of_file), len(split)


def names(iotrail, trail, directory):
    """Which names below a directory are there by the trail and are not, or the other way round."""
    done = subprocess.run([iotrail, "files", trail, "--paths", "--csv"], check=True, capture_output=True, text=True)
    of_path = {}
    for row in csv.DictReader(io.StringIO(done.stdout)):
        path = row["path"]
        # What lies below a symbolic link is no name, and `..` none that a file can lose.
        if path.startswith(f"{directory}/") and not path.endswith("/..") and os.path.realpath(os.path.dirname(path)) == os.path.dirname(path):
            of_path.setdefault(path, []).append(row["gone"])
    wrong = []
    for path, gone in of_path.items():
        is_there, stay = os.path.lexists(path), gone.count("false")
        if stay > 1 or stay and not is_there or is_there and stay + gone.count("") == 0:
            wrong.append(f"{path} is {'there' if is_there else 'gone'}, and the trail says {gone}")
    return wrong


def trial(options, program, mode, seed, work):
    command, links = MODES[mode]
    # Both are called alike, for the commands hold absolute names.
    directory = (work / "files").joinpath(*["up"] * 12)
    commands, truth = imagine(seed, options.steps, directory, links)
    shutil.rmtree(work / "files")
    directory.mkdir(parents=True)
    lay_out(directory, seed, links)
    script, trail, trace = work / "commands", work / "run.trail", work / "trace"
    script.write_text("\n".join(commands) + "\n")
    fill = {"iotrail": options.iotrail, "trail": trail, "trace": trace}
    run = [str(word).format(**fill) for word in command] + [str(program), str(script)]
    subprocess.run(run, cwd=directory, check=True, stdin=subprocess.DEVNULL)
    if command is not RECORD:
        traces = sorted(work.glob("trace*"))
        subprocess.run([options.iotrail, "import", "-q", "-o", trail, *traces], check=True)
    result = judge(truth, events(options.iotrail, trail), links == "hard")
    if not result[0] and links != "hard" and (wrong := names(options.iotrail, trail, directory)):
        result = (wrong[0], *result[1:])
    if not (result[0] and options.keep):
        for path in [work / "files", trail]:
            shutil.rmtree(path)
        for path in work.glob("trace*"):
            path.unlink()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iotrail")
    parser.add_argument("--sequences", type=int, default=8)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("modes", nargs="*", metavar="MODE")
    options = parser.parse_args()
    options.iotrail = str(Path(options.iotrail).resolve())
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 65536), limit))
    work = Path(tempfile.mkdtemp(prefix="iotrail-identity-"))
    program = compiled(work)
    wrong = 0
    for mode in options.modes or MODES:
        sums = Counter()
        for seed in range(options.first, options.first + options.sequences):
            why, compared, files, split = trial(options, program, mode, seed, work)
            sums.update(events=compared, files=files, split=split, wrong=why is not None)
            if why is not None:
                print(f"{mode}, seed {seed}: {why}")
                if options.keep:
                    sys.exit(f"kept in {work}")
        wrong += sums["wrong"]
        split = f", {sums['split']} files under several numbers" if sums["split"] else ""
        print(f"{mode}: {options.sequences} sequences, {sums['events']} events of {sums['files']} files, {int(sums['wrong'])} wrong{split}")
    shutil.rmtree(work)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
