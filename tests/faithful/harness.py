"""Runs a scenario twice in the same directory, plain and under a recorder, and says where the two differ.

A scenario is a function of a `Stage`: it starts programs with `stage.run` or `stage.start` and returns what a person could
notice (output, statuses, answers to signals). The files that it leaves are compared as well. Every recording must open, pass
`iotrail check`, and hold events.
"""
import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60


class Skip(Exception):
    """What the scenario needs is not on this machine."""


class Wrong(Exception):
    """A recording that is not what it must be."""


SCENARIOS = []


def scenario(title, needs=(), long=False, ignore=(), patience=PATIENCE):
    """Registers a scenario. `needs`: programs it calls; `ignore`: patterns of files that differ from run to run."""
    def register(body):
        SCENARIOS.append(Scenario(title, body, tuple(needs), long, tuple(ignore), patience))
        return body
    return register


class Scenario:
    def __init__(self, title, body, needs, long, ignore, patience):
        self.title, self.body, self.needs, self.long, self.ignore, self.patience = title, body, needs, long, ignore, patience

    def differences(self, recorder, scratch):
        """Runs both; returns a list of differences, empty if there is none."""
        missing = [program for program in self.needs if shutil.which(program) is None]
        if missing:
            raise Skip(f"{', '.join(missing)} is not installed")
        plain = self.observe(Plain(), scratch)
        recorded = self.observe(recorder, scratch)
        recorder.inspect()
        return list(compare(plain, recorded))

    def observe(self, launcher, scratch):
        directory = scratch / "stage"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(mode=0o777)
        directory.chmod(0o777)
        stage = Stage(launcher, directory, scratch / "programs", self.patience)
        with limited(self.patience):
            seen = {"returned": self.body(stage)}
        seen.update(tree(directory, self.ignore))
        return seen


@contextlib.contextmanager
def limited(seconds):
    """Ends a scenario that hangs, and whatever it left running."""
    def late(number, frame):
        raise Wrong(f"not over after {seconds} s")
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        end_all_below()


def hear_signals():
    """Programs inherit what their starter ignores, and what starts tests in the background may ignore the signals of a terminal."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)


def adopt_orphans():
    """Makes this process the parent of orphans below it, so that it can end them."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def end_all_below():
    for _ in range(100):
        with open(f"/proc/self/task/{os.getpid()}/children") as listing:
            pids = [int(word) for word in listing.read().split()]
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


class Plain:
    """Starts programs as they are."""
    recorded = False

    def prefix(self):
        return []


class Recorder:
    """Starts programs under `iotrail record`, or under another tool that takes a command (for comparison)."""
    recorded = True

    def __init__(self, iotrail, trails, under=None, options=()):
        self.iotrail, self.trails, self.under, self.options, self.made = iotrail, trails, under, list(options), 0
        shutil.rmtree(trails, ignore_errors=True)
        trails.mkdir(parents=True)
        trails.chmod(0o777)

    def prefix(self, *options):
        if self.under:
            return self.under.split()
        self.made += 1
        target = self.trails / f"{self.made}.trail"
        return [str(self.iotrail), "--quiet", "record", *self.options, *options, "-o", str(target), "--"]

    def inspect(self):
        """Every trail made opens, is sound, and holds something."""
        for trail in [] if self.under else sorted(self.trails.iterdir()):
            for command in (["check", str(trail)], ["info", "--json", str(trail)]):
                done = subprocess.run([self.iotrail, *command], capture_output=True, text=True)
                if done.returncode != 0:
                    raise Wrong(f"iotrail {command[0]} of {trail.name}: {done.stdout[-400:]}{done.stderr[-400:]}")
            if '"events": 0,' in done.stdout:
                raise Wrong(f"{trail.name} holds no event")
            shutil.rmtree(trail)
        self.made = 0


class Stage:
    """What a scenario works with: a directory, compiled test programs, and a way to start programs."""

    def __init__(self, launcher, directory, programs, patience):
        self.launcher, self.directory, self.programs, self.patience = launcher, directory, programs, patience
        self.environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "HOME": str(directory), "HISTFILE": ""}

    @property
    def recorded(self):
        return self.launcher.recorded

    def program(self, name):
        """Path of tests/programs/NAME.c compiled."""
        source, made = ROOT / "tests" / "programs" / f"{name}.c", self.programs / name
        if not made.exists():
            self.programs.mkdir(exist_ok=True)
            self.programs.chmod(0o755)
            flags = re.search(r"^ \* cc (-.*?) *\*/", source.read_text(), re.M)
            words = flags.group(1).split() if flags else ["-pthread", "-lrt"]
            done = subprocess.run(["cc", "-O1", "-o", made, source, *words], capture_output=True, text=True)
            if done.returncode != 0:
                raise Skip(f"{source.name} does not compile here: {done.stderr[-300:]}")
        return str(made)

    def command(self, *words, options=()):
        return [*(self.launcher.prefix(*options) if self.recorded else []), *map(str, words)]

    def start(self, *words, options=(), **how):
        how.setdefault("cwd", self.directory)
        how.setdefault("env", self.environment)
        return subprocess.Popen(self.command(*words, options=options), **how)

    def run(self, *words, stdin=b"", options=(), **how):
        """Output, errors and status of a command that is given `stdin`."""
        process = self.start(*words, options=options, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        out, err = process.communicate(stdin)
        return {"stdout": text(out), "stderr": text(err), "status": status(process.returncode)}

    def sh(self, script, **how):
        return self.run("sh", "-c", script, **how)

    def bash(self, script, **how):
        return self.run("bash", "-c", script, **how)


def end(process):
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait(10)


def status(code):
    """Exit status as a shell shows it: death by signal n is 128 + n."""
    return 128 - code if code < 0 else code


def text(data):
    return data.decode("utf-8", "backslashreplace")


def until(condition, patience=20, what="the expected state"):
    """Waits for a condition; its value."""
    deadline = time.monotonic() + patience
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Wrong(f"waited {patience} s for {what}")
        time.sleep(0.005)
    return value


def state_of(pid):
    """State letter of a process, or None if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def tree(directory, ignore):
    """Kind, mode, size and content of everything below a directory."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if any(re.search(pattern, name) for pattern in ignore):
            continue
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            found[f"file {name}"] = f"link to {os.readlink(path)}"
        elif stat.S_ISREG(facts.st_mode):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            found[f"file {name}"] = f"{facts.st_mode:o} {facts.st_size} bytes {digest} links {facts.st_nlink}"
        else:
            found[f"file {name}"] = f"{facts.st_mode:o}"
    return found


def compare(plain, recorded):
    flat, other = {}, {}
    flatten(plain, "", flat)
    flatten(recorded, "", other)
    for key in sorted(flat.keys() | other.keys()):
        if flat.get(key) != other.get(key):
            yield f"{key}: {differing(flat.get(key), other.get(key))}"


def differing(plain, recorded):
    if isinstance(plain, str) and isinstance(recorded, str) and "\n" in plain + recorded:
        gone = [line for line in plain.splitlines() if line not in set(recorded.splitlines())]
        new = [line for line in recorded.splitlines() if line not in set(plain.splitlines())]
        return f"only plain {gone[:12]}, only recorded {new[:12]}"
    return f"plain {plain!r:.600}, recorded {recorded!r:.600}"


def flatten(value, key, into):
    if isinstance(value, dict):
        for name, below in value.items():
            flatten(below, f"{key}.{name}" if key else str(name), into)
    elif isinstance(value, (list, tuple)):
        for index, below in enumerate(value):
            flatten(below, f"{key}[{index}]", into)
    else:
        into[key] = value
