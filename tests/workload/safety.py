"""`iotrail generate` killed at random moments, on a full disk, and with its directory taken away: it ends, `--clean` leaves nothing of it, and
nothing outside of its directory changes.

usage: safety.py IOTRAIL [--kills N]
"""
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

iotrail = Path(sys.argv[1]).resolve()
kills = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 200
problems = []


def run(*words, timeout=60):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout)


def expect(what, good, more=""):
    if not good:
        problems.append(f"{what}: {' '.join(str(more).split())[:600]}")


def snapshot(directory, without):
    """Everything in a directory, but for one entry of it."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if without in path.parents or path == without:
            continue
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else None
        found[path] = (status.st_mode, status.st_mtime_ns, content)
    return found


def start(model, directory, *words):
    command = [iotrail, "-q", "generate", model, "--dir", directory, "--ranks", "6", *words]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def killed(work, model):
    """A file of the user's own that is put into the directory meanwhile stays."""
    directory, chance = work / "scratch", random.Random(12)
    whole = float("inf")
    for _ in range(3):
        begin = time.monotonic()
        start(model, directory).communicate(timeout=120)
        whole = min(whole, time.monotonic() - begin)
    found = dict.fromkeys(("nothing made", "files left", "over"), 0)
    for number in range(kills):
        made_before = number % 3 == 0
        if made_before:
            directory.mkdir()
        before = snapshot(work, directory)
        process = start(model, directory)
        time.sleep(chance.uniform(0, whole * 1.1))
        mine = directory / "mine"
        if number % 7 == 0 and directory.exists():
            try:
                mine.write_text("mine")
            except FileNotFoundError:
                pass
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        state = "over" if process.returncode == 0 else "files left" if directory.exists() and any(directory.iterdir()) else "nothing made"
        found[state] += 1
        cleaned = run(iotrail, "generate", "--clean", "--dir", directory)
        expect(f"kill {number}: clean", cleaned.returncode == 0, cleaned.stderr)
        left = sorted(path.name for path in directory.iterdir()) if directory.exists() else []
        expect(f"kill {number}: what is left", left in ([], ["mine"]), left)
        expect(f"kill {number}: the user's file", "mine" not in left or mine.read_text() == "mine")
        expect(f"kill {number}: outside", snapshot(work, directory) == before)
        mine.unlink(missing_ok=True)
        if directory.exists():
            directory.rmdir()
    print(f"{kills} kills: {found}")
    expect("kills at all stages", found["files left"] > kills // 20, found)


def full(work, model):
    """The disk has room when it begins, and is filled meanwhile."""
    disk = work / "disk"
    disk.mkdir()
    if run("mount", "-t", "tmpfs", "-o", "size=40m,nr_inodes=400", "tmpfs", disk).returncode:
        print("NOT TESTED: a full disk, because no file system can be mounted")
        return
    try:
        refused = run(iotrail, "generate", model, "--dir", disk / "scratch", "--ranks", "64")
        expect("too many bytes", refused.returncode and "bytes are needed" in refused.stderr, refused.stderr)
        loader = work / "loader.toml"
        run(iotrail, "-q", "workload", "--template", "loader", "--scale", "size=0.0625", "-o", loader)
        refused = run(iotrail, "generate", loader, "--dir", disk / "scratch", "--ranks", "3")
        expect("too many files", refused.returncode and "files and directories are needed" in refused.stderr, refused.stderr)
        dry = run(iotrail, "generate", loader, "--dir", disk / "scratch", "--ranks", "3", "--dry-run")
        expect("too many files, dry run", dry.returncode and "files and directories are needed" in dry.stderr, dry.stderr)
        expect("nothing made", not (disk / "scratch").exists())
        long = work / "long.toml"
        long.write_text(model.read_text().replace("repeat = 5", "repeat = 200"))
        process = start(long, disk / "scratch", "--json")
        for _ in range(2_000):
            if (disk / "scratch").exists() and len(list((disk / "scratch").iterdir())) > 1:
                break
            time.sleep(0.001)
        hog = os.open(disk / "hog", os.O_WRONLY | os.O_CREAT)
        # Files are emptied and written again: what that frees is taken, too.
        while process.poll() is None:
            try:
                os.write(hog, bytes(1 << 16))
            except OSError:
                time.sleep(0.0001)
        output, messages = process.communicate(timeout=60)
        expect("full disk: ends with an error", process.returncode == 1, f"{process.returncode} {output} {messages}")
        expect("full disk: says why", "No space left" in output + messages, output + messages)
        expect("full disk: nothing left", sorted(path.name for path in disk.iterdir()) == ["hog"], list(disk.iterdir()))
    finally:
        run("umount", "-l", disk)


def vanished(work, model):
    directory = work / "scratch"
    before = snapshot(work, directory)
    for attempt in range(10):
        process = start(model, directory)
        time.sleep(0.02 * attempt)
        run("rm", "-rf", directory)
        _, messages = process.communicate(timeout=60)
        expect(f"vanished {attempt}: ends", process.returncode in (0, 1, 2), process.returncode)
        expect(f"vanished {attempt}: outside", snapshot(work, directory) == before, messages)
        run(iotrail, "generate", "--clean", "--dir", directory)
        run("rm", "-rf", directory)


def escapes(work, model):
    """Names that lead out are no names of a model; links on the way lead nowhere."""
    text = model.read_text()
    for name in ("/etc/x", "../x", "a/../../x", "a//b", "./x", ".hidden", "a/./b", "a\\u0000b", ""):
        bad = work / "bad.toml"
        bad.write_text(text.replace('name = "checkpoint.%r"', f'name = "{name}"').replace("checkpoint.%r/", f"{name}/"))
        refused = run(iotrail, "generate", bad, "--dir", work / "scratch")
        expect(f"the name {name!r}", refused.returncode and "line" in refused.stderr and not (work / "scratch").exists(), refused.stderr)
        bad.unlink()
    outside = work / "outside"
    outside.mkdir()
    (work / "link").symlink_to(outside)
    (outside / "x").write_text("mine")
    refused = run(iotrail, "generate", model, "--dir", work / "link")
    expect("a directory that is a link to one with files", refused.returncode and "not empty" in refused.stderr, refused.stderr)
    expect("a directory that is a link", (outside / "x").read_text() == "mine" and len(list(outside.iterdir())) == 1)


def main():
    with tempfile.TemporaryDirectory(prefix="safety-") as directory:
        work = Path(directory).resolve()
        model = work / "model.toml"
        run(iotrail, "-q", "workload", "--template", "checkpoint", "--scale", "size=0.0625,slack=0.01", "-o", model)
        for number in range(3):
            (work / f"checkpoint.{number}").write_text("not of the engine")
        for step in (escapes, killed, full, vanished):
            step(work, model)
    print("\n".join(problems))
    print(f"safety of generate: {len(problems)} problems")
    sys.exit(bool(problems))


main()
