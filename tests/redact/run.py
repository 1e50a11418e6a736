"""A redacted trail tells no secret and keeps every figure.

usage: run.py IOTRAIL        (the packages of tests/interop/requirements.txt are installed)
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import figures
import planted
import scan

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Among the hundreds of thousands of digits that stand for numbers, eight in a row are those of some secret in one copy of
# seven. The key of each copy is its own: what is a secret is in all of them, what is chance in one.
COPIES = 3
IMPORTED = {
    "fixtures": ROOT / "tests" / "fixtures" / "strace",
    "experiment": ROOT / "examples" / "ssf-fpp" / "traces",
    "ls": ROOT / "examples" / "ls" / "traces",
    "paper": ROOT / "crates" / "strace" / "tests" / "fixtures" / "paper",
}
SHELL = {
    "pipes": "for i in 1 2 3; do ls -l /usr | sort | uniq -c > out.$i.dat; done; cat out.*.dat | wc -l > sum_2026.quokka",
    "archive": "mkdir -p a/b; for i in 07 08 09; do echo $i > a/b/part_$i.h5; done; tar czf all.tar.gz a && tar xzf all.tar.gz && find a -name '*.h5' -exec cat {} + > joined",
    "make": "printf 'all: x.out y.out\\n%%.out: %%.in\\n\\tsort $< > $@\\n' > Makefile; echo 2 > x.in; echo 1 > y.in; make -s -j2",
    "names": "mkdir -p 'd 1/é'; echo x > 'd 1/é/a,b.c'; cp 'd 1/é/a,b.c' 'd 1/0b5e6c2e-7a1f-4c3d-9e8b-1234567890ab.lock'; cat < /proc/self/root/etc/hostname > /dev/null; mv 'd 1' d2",
    "links": "echo 1 > one; ln one two; ln -s two three; cat three > four; ls -l /proc/self/fd > five; cat nothing 2> six; true",
}


def main():
    iotrail = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        hidden(iotrail, scratch)
        count = kept(iotrail, scratch)
    print(f"redact: none of {sum(planted.COUNTS.values())} secrets is in a recorded or an imported trail; the figures of {count} trails stay")


def hidden(iotrail, scratch):
    secrets = planted.make()
    needles = {secret: planted.needles(kind, secret) for kind, secret in secrets}
    for name, make in (("recorded", recorded), ("imported", imported)):
        trail = scratch / f"{name}.trail"
        make(iotrail, scratch, trail, secrets)
        missing = set(needles) - set(scan.search(trail, needles))
        assert not missing, f"{name}: the scanner does not find {sorted(missing)[:5]} in the original, so it proves nothing"
        found = needles
        for attempt in range(COPIES):
            copy = scratch / f"{name}-{attempt}.trail"
            run(iotrail, "-q", "redact", trail, "-o", copy)
            run(iotrail, "check", copy)
            found = scan.search(copy, {secret: needles[secret] for secret in found})
            if not found:
                break
        assert not found, f"{name}: {len(found)} secrets are left in each copy, such as {list(found.items())[:5]}"


def recorded(iotrail, scratch, trail, secrets):
    listed = scratch / "secrets.json"
    listed.write_text(json.dumps(secrets))
    work = directory(scratch / "recorded")
    run(iotrail, "-q", "record", "--env", "*", "--label", secrets[0][1], "-o", trail, "--", sys.executable, HERE / "plant.py", listed, cwd=work)


def imported(iotrail, scratch, trail, secrets):
    """Traces with secrets wherever strace writes a text, and in the names of files, which give command, host and rank."""
    inputs = directory(scratch / "imported")
    for at in range(0, len(secrets), 25):
        some = [secret for _, secret in secrets[at : at + 25]]
        lines = [line for number, secret in enumerate(some) for line in trace(secret, 10 + number)]
        (inputs / f"{some[0].replace('_', '-')}_{some[1].replace('_', '-')}_{some[2].replace('_', '-')}.st").write_text("\n".join(lines) + "\n")
    run(iotrail, "-q", "import", "--label", secrets[0][1], "-o", trail, inputs)


def trace(secret, second):
    symbol = "".join(c for c in secret.upper() if c.isalnum())
    calls = [
        f'execve("/home/{secret}/bin/{secret}", ["{secret}", "--{secret}={secret}", "-I/{secret}", "a,{secret}", "{secret}@h:/p"], 0x1 /* 3 vars */) = 0',
        f'openat(AT_FDCWD, "/proc/self/root/{secret}", O_RDONLY) = 3</proc/self/root/{secret}>',
        f'read(3</data/x.{secret}>, "{secret}"..., 4096) = 10',
        f'write(4<TCP:[{secret}->10.0.0.7:80]>, "x", 1) = 1',
        f'write(5<UNIX-STREAM:[7->8,"/run/{secret}"]>, "x", 1) = 1',
        f'write(6<{secret}:[7]>, "x", 1) = 1',
        f'write(7<anon_inode:[{secret}]>, "x", 1) = 1',
        f'openat(AT_FDCWD, "/usr/bin/{secret}", {secret.upper()}_X|O_RDONLY) = -1 E{symbol} (No {secret})',
        f'openat(AT_FDCWD, "/x", O_RDONLY|O_{symbol}) = 8',
        f'openat(AT_FDCWD, "/x", O_RDONLY<<{symbol}) = 8',
        f'openat(AT_FDCWD, "/x", O_RDONLY|0x{secret.encode().hex()}) = 8',
        f'fcntl(8, F_{symbol}, 0x{secret.encode().hex()}) = 0',
        f'lseek(8, 0, SEEK_{symbol}) = 0',
        f'ioctl(8, TC{symbol}, 0x7) = 0',
        f'socket(AF_{symbol}, SOCK_{symbol}|SOCK_CLOEXEC, IPPROTO_{symbol}) = 9',
        f'clone(child_stack=NULL, flags=CLONE_{symbol}|SIG{symbol}) = -1 EAGAIN (No)',
        f'kill(8, SIG{symbol}) = 0',
        f'{symbol.lower()}(8) = 0',
        f'syscall_0x{symbol.lower()}(8) = 0',
        f'rename("/a/{secret}", "/usr/lib/{secret}.so") = 0',
    ]
    return [f"7  10:00:{second}.{number:06} {call} <0.000010>" for number, call in enumerate(calls)] + [
        f"7  10:00:{second}.900000 --- SIG{symbol} {{si_signo=SIG{symbol}, si_code=SI_{symbol}}} ---",
        f"7  10:00:{second}.900001 +++ killed by SIG{symbol} +++",
        f"this line is about {secret}",
    ]


def kept(iotrail, scratch):
    trails = []
    for name, inputs in IMPORTED.items():
        trails.append(scratch / f"{name}.trail")
        run(iotrail, "-q", "import", "-o", trails[-1], inputs)
    # Of several ranks, each of which numbers its files.
    trails.append(scratch / "ranks.trail")
    run(iotrail, "-q", "expand", ROOT / "tests" / "fixtures" / "advise" / "needless-collective.structure", "-o", trails[-1])
    for name, script in SHELL.items():
        trails.append(scratch / f"{name}.trail")
        run(iotrail, "-q", "record", "-o", trails[-1], "--", "sh", "-c", script, cwd=directory(scratch / name))
    secrets = [secret for kind in planted.COUNTS for secret in [next(found for found in planted.make(9) if found[0] == kind)]]
    trails.append(scratch / "planted.trail")
    recorded(iotrail, directory(scratch / "few"), trails[-1], secrets)
    for trail in trails:
        copy = trail.with_name(f"{trail.stem}-copy.trail")
        run(iotrail, "-q", "redact", trail, "-o", copy)
        found = figures.differences(iotrail, trail, copy)
        assert not found, f"{trail.stem}: " + "\n".join(found)
    return len(trails)


def directory(path):
    path.mkdir()
    return path


def run(*words, cwd=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stderr}"


main()
