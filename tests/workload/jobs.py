"""Jobs that make and the shell start one after the other, each reading what others made, and copying it: the model that is chosen without --level keeps who
waits for whom, so that no call of its clone fails, and all bytes are moved.

usage: jobs.py IOTRAIL        (make)
"""

import json
import pathlib
import subprocess
import sys
import tempfile

iotrail = pathlib.Path(sys.argv[1]).resolve()
# Jobs of no regular shape, so that the program is long: each reads pieces of what the one before made, and leaves a file of its own.
JOB = """
import os, random, sys
number, before = int(sys.argv[1]), sys.argv[2]
dice = random.Random(number)
with open(before, "rb", buffering=0) as source, open(f"made/{number}.tmp", "wb", buffering=0) as made:
    for _ in range(60):
        source.seek(dice.randrange(90_000))
        made.write(source.read(dice.randrange(1, 3000)) + bytes(dice.randrange(1, 3000)))
        if dice.random() < 0.3:
            with open(f"made/{number}.{dice.randrange(9)}", "ab", buffering=0) as log:
                log.write(bytes(dice.randrange(1, 200)))
    made.write(bytes(100_000))
os.rename(f"made/{number}.tmp", f"made/{number}")
with open(f"made/{number}", "rb", buffering=0) as made, open(f"made/{number}.copy", "wb", buffering=0) as copy:
    while os.copy_file_range(made.fileno(), copy.fileno(), 1 << 30):
        pass
"""
COUNT = 12


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def makefile():
    rules = [f"made/{COUNT}: made/{COUNT - 1}\n"]
    for number in range(1, COUNT + 1):
        before = f"made/{number - 1}" if number > 1 else "first"
        rules.append(f"made/{number}: {before}\n\tpython3 job.py {number} $<\n")
    return "".join(rules)


def main():
    with tempfile.TemporaryDirectory(prefix="jobs-") as directory:
        work = pathlib.Path(directory).resolve()
        (work / "job.py").write_text(JOB)
        (work / "first").write_bytes(bytes(100_000))
        (work / "Makefile").write_text(makefile())
        (work / "made").mkdir()
        run(iotrail, "-q", "record", "-o", "t.trail", "--", "make", "-s", cwd=work)
        words = ["characterize", "t.trail", "--path", f"{work}/made/*", "--path", f"{work}/first", "-o", "m.toml", "--json"]
        found = json.loads(run(iotrail, "-q", *words, cwd=work))
        level = next(level["level"] for level in found["levels"] if level["chosen"])
        done = json.loads(run(iotrail, "-q", "generate", "m.toml", "--dir", "clone", "--asap", "--json", cwd=work))
        written = sum(path.stat().st_size for path in (work / "made").iterdir())
        print(f"{COUNT} jobs: level {level}, {done['calls']:,} calls, {done['failed']} failed, {done['written_bytes']:,} bytes of {written:,}")
        near = abs(done["written_bytes"] - written) <= written // 100
        sys.exit(level != "program" or done["failed"] != 0 or not near)


main()
