"""Nothing acknowledged is ever lost: recordings are killed at random moments, their disk fills up, their directory vanishes, their
size is limited; each event that the program had reported before must be in the trail, and what is missing must be stated.

usage: run.py IOTRAIL [--kills N] [--seed N] [--step N] [--keep] [WORD...]
"""
import argparse
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATUS = 21  # of the program, when it was left alone


class Wrong(Exception):
    """A promise that was not kept."""


class Skip(Exception):
    """What the test needs is not on this machine."""


def children(pid):
    found = []
    for listing in Path("/proc").glob(f"{pid}/task/*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += map(int, listing.read_text().split())
    return found


class Recording:
    """A recording of the acknowledging program, with what the program reported."""

    def __init__(self, test, trail, rounds, options=(), limit=None):
        self.trail, self.reader, self.reports = trail, None, b""
        self.reader, writer = os.pipe()
        # Whether a thread waits for another at all depends on the moment: such calls are not the same number each time.
        words = [test.iotrail, "record", "--calls", "io,!wait", *options, "-o", trail, "--", test.program, str(rounds)]

        def prepare():
            os.dup2(writer, 3)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        self.process = subprocess.Popen(list(map(str, words)), cwd=test.stage, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(test.scratch / "stderr", "wb"), preexec_fn=prepare, pass_fds=(3,), env=test.environment)
        os.close(writer)
        self.said = test.scratch / "stderr"

    def first_report(self):
        self.reports += os.read(self.reader, 1 << 16)

    def programs(self):
        """The recorded processes, or those of them that have not ended."""
        first = children(self.process.pid)
        return first + [pid for parent in first for pid in children(parent)]

    def end(self, patience=60):
        """Status of the recorder, when every writer of the pipe is gone: then no recorded process is left."""
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Wrong(f"processes still run {patience} s after the end of the recorder")))
        signal.alarm(patience)
        try:
            while data := os.read(self.reader, 1 << 16):
                self.reports += data
            code = self.process.wait()
        finally:
            signal.alarm(0)
        os.close(self.reader)
        return code

    def reported(self):
        whole = self.reports.decode()
        return {tuple(map(int, line.split())) for line in whole[:whole.rfind("\n") + 1].splitlines()}

    def words(self):
        return self.said.read_text(errors="replace")


class Test:
    def __init__(self, iotrail, kills, seed, step):
        self.iotrail, self.kills, self.random, self.step = iotrail, kills, random.Random(seed), step
        self.scratch = Path(tempfile.mkdtemp(prefix="loss-"))
        self.stage, self.program = self.scratch / "stage", self.scratch / "acknowledges"
        self.stage.mkdir()
        self.environment = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C"}
        subprocess.run(["cc", "-O1", "-pthread", "-o", self.program, ROOT / "tests" / "programs" / "acknowledges.c"], check=True)

    def ask(self, *words, check=True):
        done = subprocess.run([self.iotrail, *map(str, words)], capture_output=True, text=True, env=self.environment)
        if check and done.returncode != 0:
            raise Wrong(f"iotrail {' '.join(map(str, words))} ended with {done.returncode}: {done.stdout[-300:]} {done.stderr[-600:]}")
        return done.stdout + done.stderr

    def recorded(self, trail):
        """Rounds of which the trail holds the pwrite, with size and offset checked; and the number of all events."""
        done = subprocess.run([self.iotrail, "events", "--json", trail], capture_output=True, text=True)
        if done.returncode != 0:
            raise Wrong(f"events of {trail}: {done.stderr[-600:]}")
        found, events = set(), 0
        for line in done.stdout.splitlines():
            event = json.loads(line)
            events += 1
            if event["call"] == "pwrite64" and (worker := re.search(r"/worker(\d+)$", event["path"] or "")):
                number = event["offset"] // 10
                if event["requested"] != 1 + number % 100 or event["size"] not in (event["requested"], None):
                    raise Wrong(f"wrong sizes: {event}")
                if event["size"] is not None and (int(worker.group(1)), number) in found:
                    raise Wrong(f"twice: {event}")
                found.add((int(worker.group(1)), number))
        return found, events

    def none_missing(self, trail, reported):
        found, _ = self.recorded(trail)
        if missing := sorted(reported - found):
            raise Wrong(f"{len(missing)} of {len(reported)} reported events are missing, such as worker {missing[0][0]} round {missing[0][1]}")

    def new_trail(self):
        trail = self.scratch / "t.trail"
        shutil.rmtree(trail, ignore_errors=True)
        return trail

    def facts(self, trail):
        return json.loads(subprocess.run([self.iotrail, "info", "--json", trail], capture_output=True, text=True, check=True).stdout)


def killed(who):
    def test(self):
        """Kills at random times; the recorder also while it is finishing."""
        reports = 0
        for number in range(self.kills // 3):
            trail = self.new_trail()
            recording = Recording(self, trail, 100_000)
            recording.first_report()
            time.sleep(self.random.uniform(0, 0.04))
            programs = recording.programs()
            if who in ("recorder", "both"):
                recording.process.kill()
            for program in programs if who in ("program", "both") else []:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(program, signal.SIGKILL)
            code = recording.end()
            if code != (137 if who == "program" else -9):
                raise Wrong(f"the recorder ended with {code}: {recording.words()}")
            reported = recording.reported()
            reports += len(reported)
            if number % 2:
                self.none_missing(trail, reported)
            said = self.ask("info", trail) if number % 4 < 2 else None
            if who != "program":
                if said is not None and not re.search("killed|broke|not finished|unfinished|recover", said):
                    raise Wrong(f"info does not say that the recording was cut off: {said}")
                self.ask("recover", trail)
                self.none_missing(trail, reported)
                self.ask("check", trail)
            elif number % 2 == 0:
                self.none_missing(trail, reported)
                self.ask("check", trail)
        return f"{self.kills // 3} kills, {reports} reports"
    return test


def killed_while_finishing(self):
    """The program is over and the trail is being made: the recorder is killed there."""
    cut = 0
    for number in range(20):
        trail = self.new_trail()
        recording = Recording(self, trail, 1500)
        while len(recording.reported()) < 6000:
            recording.reports += os.read(recording.reader, 1 << 16)
        time.sleep(self.random.uniform(0, 0.06))
        recording.process.kill()
        cut += recording.process.wait() == -9
        os.close(recording.reader)
        self.none_missing(trail, recording.reported())
        self.ask("recover", trail)
        self.none_missing(trail, recording.reported())
        self.ask("check", trail)
    return f"20 ends, {cut} cut off"


@contextlib.contextmanager
def small_disk(self, options):
    """A file system of its own in memory."""
    place = self.scratch / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", place], capture_output=True).returncode != 0:
        raise Skip("a small file system cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place])
        place.rmdir()


def disk_full(self):
    kept = []
    for size in ("0", "64k", "300k", "1m", "2500k"):
        with small_disk(self, "size=2m" if size == "0" else f"size={size}") as disk:
            if size == "0":
                with contextlib.suppress(OSError), open(disk / "full", "wb") as full:
                    while full.write(b"x" * 4096):
                        full.flush()
            trail = disk / "t.trail"
            recording = Recording(self, trail, 4000)
            code = recording.end()
            if size == "0" and code == 125:
                continue  # said that it could not begin
            if code != STATUS:
                raise Wrong(f"{size}: the program ended with {code}: {recording.words()}")
            found, _ = self.recorded(trail)
            kept.append(len(found))
            if len(found) < 16_000:
                words, said = re.sub(r"\b0 lost", "", recording.words()), re.sub(r"\b0 lost", "", self.ask("info", trail))
                if not re.search("space|full|lost", words):
                    raise Wrong(f"{size}: {len(found)} of 16000 are left, and nothing is said: {words}")
                if not re.search("lost|missing|full|space", said):
                    raise Wrong(f"{size}: {len(found)} of 16000 are left, and info does not say so: {said}")
    return f"kept of 16000: {kept}"


def lost(about):
    return sum((about["coverage"].get("recording") or {}).get("lost", {}).values())


def disk_full_at_each_write(self):
    """The free space grows step by step, so that each write of a recorder's life is the one that fails. When there is room again the
    trail is finished: what it holds and what it says to have lost are together all that the program did."""
    rounds, stages = 300, {"not begun": 0, "lost": 0, "not converted": 0, "whole": 0}
    plain = self.new_trail()
    Recording(self, plain, rounds).end()
    _, everything = self.recorded(plain)
    whole = self.facts(plain)["coverage"]["recording"]["left_out"]
    step, size = self.step * 4096, 4096
    with small_disk(self, "size=64m") as disk:
        while stages["whole"] < 3 or size < 200 << 10:
            shutil.rmtree(disk / "t.trail", ignore_errors=True)
            with contextlib.suppress(OSError), open(disk / "filler", "wb", buffering=0) as filler:
                while filler.write(bytes(1 << 16)):
                    pass
            with open(disk / "filler", "rb+") as filler:
                filler.truncate((64 << 20) - size)
            recording = Recording(self, disk / "t.trail", rounds)
            code = recording.end()
            words, left = recording.words(), sorted(entry.name for entry in disk.iterdir())
            (disk / "filler").unlink()
            if code == 125:
                stages["not begun"] += 1
                if left != ["filler"] or "No space left" not in words:
                    raise Wrong(f"{size}: the recording did not begin, and {left} is left: {words}")
            elif code != STATUS:
                raise Wrong(f"{size}: the program ended with {code}: {words}")
            else:
                self.ask("recover", disk / "t.trail")
                self.ask("check", disk / "t.trail")
                about = self.facts(disk / "t.trail")
                missing = lost(about)
                if about["events"] + missing != everything or about["coverage"]["recording"]["left_out"] != whole:
                    raise Wrong(f"{size}: {about['events']} events + {missing} lost, {everything} happened: {about['coverage']} {words}")
                if about["coverage"]["recording"]["broken_off"]:
                    raise Wrong(f"{size}: said to be killed")
                if missing and "No space left" not in self.ask("info", disk / "t.trail"):
                    raise Wrong(f"{size}: not said why {missing} are lost")
                stages["lost" if missing else "not converted" if "recover" in words else "whole"] += 1
            size += step
    if 0 in stages.values():
        raise Wrong(f"not every kind of end was met: {stages}")
    return f"sizes up to {size >> 10} KiB: {stages}"


def files_limited_at_each_size(self):
    """A limit on the size of files (`ulimit -f`) that grows step by step: there is no recording and nothing of it, or what it holds
    and what it says to have lost are together all that the program did."""
    rounds, stages = 300, {"not begun": 0, "lost": 0, "whole": 0}
    plain = self.new_trail()
    Recording(self, plain, rounds).end()
    _, everything = self.recorded(plain)
    place = self.scratch / "place"
    small, large = range(0, 5120, 512), range(5120, 400 << 10, self.step * 8192)
    for size in (*small, *large, 8 << 20):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        trail = place / "t.trail"
        recording = Recording(self, trail, rounds, limit=size)
        code = recording.end()
        words, left = recording.words(), sorted(entry.name for entry in place.iterdir())
        if code == 125:
            stages["not begun"] += 1
            if left or size and "ulimit -f" not in words:
                raise Wrong(f"{size}: the recording did not begin, and {left} is left: {words}")
            continue
        if code != STATUS or left != ["t.trail"]:
            raise Wrong(f"{size}: the program ended with {code}, {left} is left: {words}")
        self.ask("recover", trail)
        self.ask("check", trail)
        about = self.facts(trail)
        if about["events"] + lost(about) != everything or about["coverage"]["recording"]["broken_off"]:
            raise Wrong(f"{size}: {about['events']} events + {lost(about)} lost, {everything} happened: {about['coverage']} {words}")
        stages["lost" if lost(about) else "whole"] += 1
    if 0 in stages.values():
        raise Wrong(f"not every kind of end was met: {stages}")
    shutil.rmtree(place)
    return stages


def disk_full_and_killed(self):
    """The disk is full, then the recorder is killed: what was lost until then is stated."""
    seen = []
    for size in ("200k", "400k"):
        with small_disk(self, f"size={size}") as disk:
            recording = Recording(self, disk / "t.trail", 100_000)
            while len(recording.reported()) < 15_000:
                recording.reports += os.read(recording.reader, 1 << 16)
            recording.process.kill()
            recording.end()
            reported = recording.reported()
            elsewhere = self.new_trail()
            self.ask("recover", disk / "t.trail", "-o", elsewhere)
            found, _ = self.recorded(elsewhere)
            about = self.facts(elsewhere)
            if len(found) + lost(about) < len(reported) or not lost(about) or about["coverage"]["recording"]["broken_off"] != 1:
                raise Wrong(f"{size}: {len(reported)} reported, {len(found)} kept, {about['coverage']}")
            seen.append((len(reported), len(found), lost(about)))
    return f"reported, kept, lost: {seen}"


def old_trail_stays(self):
    """--force replaces a trail when the new one has begun, and leaves nothing else."""
    place = self.scratch / "place"
    place.mkdir()
    trail = place / "t.trail"
    subprocess.run([self.iotrail, "-q", "record", "-o", trail, "--", "true"], check=True)
    before = self.recorded(trail)

    def again(prepare, *words):
        done = subprocess.run(["sh", "-c", f'{prepare} exec "$@"', "sh", self.iotrail, "-q", "record", "--force", "-o", trail, "--", *words], capture_output=True, text=True)
        return done.returncode, sorted(entry.name for entry in place.iterdir()), done.stderr
    for prepare, words, code in (("", ["/no/such/program"], 127), ("ulimit -f 2;", ["true"], 125), ("ulimit -n 8;", ["true"], 125), ("ulimit -n 5;", ["true"], 125), ("", ["/etc/passwd"], 126)):
        ended, left, said = again(prepare, *words)
        if ended not in (code, 0) or ended == 0 and code != 125 or left != ["t.trail"] or (ended and self.recorded(trail) != before):
            raise Wrong(f"{prepare}{words}: {ended}, {left} is left: {said}")
    for name in ("notes.txt", "recording"):
        (trail / name).write_text("mine")
        ended, left, said = again("", "true")
        if ended != 125 or left != ["t.trail"] or (trail / name).read_text() != "mine" or name not in said and name != "recording":
            raise Wrong(f"{name} in the trail: {ended}, {left} is left: {said}")
        (trail / name).unlink()
    ended, left, said = again(f"cd '{trail}';", "touch", "made")
    if ended != 125 or left != ["t.trail"] or (trail / "made").exists() or "current directory" not in said:
        raise Wrong(f"within the trail: {ended}, {left}: {said}")
    if self.recorded(trail) != before:
        raise Wrong("the old trail has changed")
    ended, left, said = again("", "sh", "-c", "exit 3")
    if ended != 3 or left != ["t.trail"] or self.recorded(trail) == before:
        raise Wrong(f"not replaced: {ended}, {left}: {said}")
    shutil.rmtree(place)


def killed_at_once(self):
    """Killed in its first milliseconds: there is not a trail, or one that every command agrees about."""
    place, seen = self.scratch / "place", {"nothing": 0, "a trail": 0}
    for number in range(max(10, self.kills // 10)):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        trail = place / "t.trail"
        process = subprocess.Popen([self.iotrail, "-q", "record", "-o", trail, "--", "sleep", "0.2"], stderr=subprocess.DEVNULL)
        time.sleep(self.random.uniform(0, 0.03))
        process.kill()
        process.wait()
        there = trail.exists()
        seen["a trail" if there else "nothing"] += 1
        asked = {words: subprocess.run([self.iotrail, *words, trail], capture_output=True, text=True) for words in (("info",), ("recover",), ("check",))}
        if any((done.returncode == 0) != there for done in asked.values()):
            raise Wrong(f"they do not agree: {asked}")
        next_one = subprocess.run([self.iotrail, "-q", "record", "-o", trail, "--", "true"], capture_output=True, text=True)
        if (next_one.returncode == 0) == there:
            raise Wrong(f"the next recording ended with {next_one.returncode}: {next_one.stderr}")
        if [entry.name for entry in place.iterdir() if ".lock" not in entry.name] != ["t.trail"]:
            raise Wrong(f"left: {sorted(place.iterdir())}")
    return seen


def read_only(self):
    with small_disk(self, "ro") as disk:
        recording = Recording(self, disk / "t.trail", 10)
        code = recording.end()
        if code != 125 or recording.reported():
            raise Wrong(f"ended with {code} after {len(recording.reported())} reports: {recording.words()}")
        if not re.search("[Rr]ead-only", recording.words()):
            raise Wrong(f"not said why: {recording.words()}")


def in_the_way(self):
    """An output that exists and is not a trail is left alone."""
    place = self.scratch / "t.trail"
    shutil.rmtree(place, ignore_errors=True)
    place.write_text("mine")
    recording = Recording(self, place, 10)
    code = recording.end()
    kept = place.read_text()
    place.unlink()
    if code != 125 or kept != "mine":
        raise Wrong(f"ended with {code}: {recording.words()}")


def vanished(self):
    trail = self.new_trail()
    recording = Recording(self, trail, 2000)
    recording.first_report()
    shutil.rmtree(trail)
    code = recording.end()
    if code != STATUS:
        raise Wrong(f"the program ended with {code}: {recording.words()}")
    if trail.exists():
        self.none_missing(trail, recording.reported())
        return "the trail was made all the same"
    if not recording.words().strip():
        raise Wrong("nothing is said")
    return recording.words().strip().splitlines()[-1]


def left_out(about):
    coverage = about["coverage"]
    return sum((coverage.get("recording") or {}).get("left_out", {}).values())


def limited(self):
    """--max-events, --max-bytes and --sample keep less, and count what they left out."""
    plain = self.new_trail()
    Recording(self, plain, 500).end()
    _, everything = self.recorded(plain)
    aside = left_out(self.facts(plain))
    for option in (("--max-events", "100"), ("--max-bytes", "20KiB"), ("--sample", "10")):
        trail = self.new_trail()
        recording = Recording(self, trail, 500, option)
        code = recording.end()
        _, events = self.recorded(trail)
        out = left_out(self.facts(trail)) - aside
        said = self.ask("info", trail)
        if code != STATUS or events >= everything or events + out != everything:
            raise Wrong(f"{option}: status {code}, {events} events + {out} left out, {everything} without limit: {said}")
        if option[0] == "--max-events" and events != 100:
            raise Wrong(f"{events} events kept, 100 wanted")
        if not re.search("left out|limit|sampl", said + recording.words()):
            raise Wrong(f"{option} is not stated: {said}")


def ends_in_the_background(self):
    """A recording of a running process ends by SIGINT, also where a shell has it ignore that, and leaves the process running."""
    with subprocess.Popen(["sh", "-c", "while :; do sleep 0.02; done"], stdout=subprocess.DEVNULL) as process:
        trail = self.new_trail()
        recorder = subprocess.Popen([self.iotrail, "-q", "record", "-o", trail, "-p", str(process.pid)], stderr=subprocess.DEVNULL,
                                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        deadline = time.monotonic() + 30
        while not (trail / "recording").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)
        recorder.send_signal(signal.SIGINT)
        try:
            code = recorder.wait(30)
        except subprocess.TimeoutExpired:
            recorder.kill()
            raise Wrong("it goes on") from None
        finally:
            alive = process.poll() is None
            process.kill()
        if code != 0 or not alive:
            raise Wrong(f"ended with {code}, the process is {'alive' if alive else 'dead'}")


def what_is_left_ends(self):
    """The main process has ended, a child lives: a signal to the recorder ends it, and what was recorded is kept."""
    for ignores in ("", "trap '' TERM; "):
        trail = self.new_trail()
        recorder = subprocess.Popen([self.iotrail, "-q", "record", "-o", trail, "--", "sh", "-c", f"({ignores}exec sleep 60) & echo done; exit 3"],
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        recorder.stdout.read(5)
        first, deadline = children(recorder.pid), time.monotonic() + 30
        while len(children(recorder.pid)) >= len(first) > 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        started = time.monotonic()
        while recorder.poll() is None and time.monotonic() < started + 30:
            recorder.send_signal(signal.SIGTERM)
            time.sleep(0.3)
        code = recorder.poll()
        recorder.stdout.close()
        if code != 3:
            recorder.kill()
            raise Wrong(f"ended with {code}")
        self.ask("check", trail)


def others_children(self):
    """Children that the recorder did not make, because another program ran in its process before, are not waited for."""
    started, left = time.monotonic(), self.scratch / "left"
    with subprocess.Popen(["sh", "-c", 'sleep 100 & echo $! > "$0"; exec "$@"', left, self.iotrail, "-q", "record", "-o", self.new_trail(), "--",
                           "sh", "-c", "exit 4"]) as process:
        code = process.wait(90)
    os.kill(int(left.read_text()), signal.SIGKILL)
    if code != 4:
        raise Wrong(f"ended with {code}")
    return f"{time.monotonic() - started:.1f} s"


def not_started(self):
    """A recording without an event says why."""
    trail = self.new_trail()
    done = subprocess.run([self.iotrail, "record", "-o", trail, "--", "/no/such/program"], capture_output=True, text=True)
    if done.returncode != 127 or not re.search("no such|not found", done.stderr, re.I):
        raise Wrong(f"{done.returncode}: {done.stderr}")


TESTS = [
    ("the recorder is killed", killed("recorder")),
    ("the program is killed", killed("program")),
    ("both are killed", killed("both")),
    ("the recorder is killed while it finishes", killed_while_finishing),
    ("the disk is full", disk_full),
    ("the disk is full at each write", disk_full_at_each_write),
    ("the size of files is limited", files_limited_at_each_size),
    ("the disk is full, then the recorder is killed", disk_full_and_killed),
    ("an old trail stays until the new one has begun", old_trail_stays),
    ("the recorder is killed in its first milliseconds", killed_at_once),
    ("the output directory is read-only", read_only),
    ("something else lies where the trail should be", in_the_way),
    ("the output directory vanishes", vanished),
    ("a limit of events, of bytes, a sample", limited),
    ("a recording in the background is ended", ends_in_the_background),
    ("what is left of a program is ended", what_is_left_ends),
    ("children of others are not waited for", others_children),
    ("a command that is not there", not_started),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iotrail", type=Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--step", type=int, default=3, help="pages by which a full disk grows from run to run; 1 meets every write")
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_intermixed_args()
    test = Test(args.iotrail.resolve(), args.kills, args.seed, args.step)
    passed = failed = skipped = 0
    for title, body in TESTS:
        if args.words and not any(word in title for word in args.words):
            continue
        started = time.monotonic()
        try:
            result = body(test)
            passed += 1
            print(f"passed  {title} ({time.monotonic() - started:.1f} s){f': {result}' if result else ''}", flush=True)
        except Skip as reason:
            skipped += 1
            print(f"NOT TESTED  {title}: {reason}", flush=True)
        except Exception as problem:  # one broken test must not hide the others
            failed += 1
            print(f"FAILED  {title}: {type(problem).__name__}: {problem}", flush=True)
    if not args.keep:
        shutil.rmtree(test.scratch, ignore_errors=True)
    print(f"loss: {passed} passed, {failed} failed, {skipped} not tested")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
