"""Programs whose transfers follow no law of offsets, recorded with three ranks: what is generated with eight, and what the program in C does
that is made of the model, is compared with the program itself at eight.

usage: places.py IOTRAIL        (cc)
"""

import collections
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDED, RANKS = 3, 8
FILES = {"data": RANKS * 100 * 4096, "pages": 20000 * 4096}
# Of distributions: the largest difference of cumulated shares, of shares, and of sizes.
NEAR, SHARE, SIZE = 0.08, 0.02, 0.05
iotrail = pathlib.Path(sys.argv[1]).resolve()
problems = []


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def transfers(trail, directory):
    """Of each process that moves bytes, its transfers in order: name of the file, kind, offset, size. Nobody writes the files that are there
    before, but to make them."""
    text = run(iotrail, "-q", "events", trail, "--csv", "--path", f"{directory}/**")
    ranks = collections.defaultdict(list)
    kinds = {"read": "read", "pread64": "read", "write": "write", "pwrite64": "write"}
    for row in csv.DictReader(io.StringIO(text)):
        name = pathlib.Path(row["path"]).name
        is_made = name in FILES and "write" in row["call"]
        if row["call"] in kinds and not is_made and not name.startswith(".") and row["size"] == row["requested"]:
            ranks[row["tid"]].append((name, kinds[row["call"]], int(row["offset"]), int(row["requested"])))
    return list(ranks.values())


def figures(ranks):
    """Places in order, the share of transfers that follow the one before, and where the file ends."""
    places = sorted(offset for rank in ranks for (_, _, offset, _) in rank)
    pairs = [(one, next) for rank in ranks for one, next in zip(rank, rank[1:])]
    follow = sum(next[2] == one[2] + one[3] for one, next in pairs) / len(pairs)
    return places, follow, max(offset + size for rank in ranks for (_, _, offset, size) in rank)


def distance(one, other):
    """The largest difference between the cumulated shares of two samples (Kolmogorov and Smirnov)."""
    values = sorted(set(one) | set(other))
    most, at, there = 0.0, 0, 0
    for value in values:
        while at < len(one) and one[at] <= value:
            at += 1
        while there < len(other) and other[there] <= value:
            there += 1
        most = max(most, abs(at / len(one) - there / len(other)))
    return most


def compare(how, mode, truth, made, ranks=RANKS):
    """A rank alone is the first one."""
    if len(made) != ranks:
        problems.append(f"{mode}, {how}: {len(made)} ranks")
    found = None
    if mode == "header" or mode == "shuffled":
        truth = sorted(truth, key=lambda rank: min(rank))[:ranks]
    if mode == "header":
        same = sorted(map(tuple, truth)) == sorted(map(tuple, made))
    elif mode == "shuffled":
        alike = lambda ranks: sorted(sorted(rank) for rank in ranks)
        in_turn = [rank for rank in made if rank == sorted(rank)]
        same = alike(truth) == alike(made) and not in_turn and len(set(map(tuple, made))) == ranks
    else:
        (places, follow, end), (own, own_follow, own_end) = figures(truth), figures(made)
        found = [distance(places, own), abs(follow - own_follow), abs(end - own_end) / end]
        same = all(figure <= most for figure, most in zip(found, (NEAR, SHARE, SIZE))) and len(places) * ranks == len(own) * len(truth)
    if not same:
        problems.append(f"{mode}, {how}: {found or ''} {[rank[:6] for rank in made[:2]]}, not {[rank[:6] for rank in truth[:2]]}")


def main():
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        program = work / "places"
        run("cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "places.c")
        for mode in ("shuffled", "header", "hot"):
            recorded = {}
            for ranks in (RECORDED, RANKS):
                files, trail = work / f"{mode}-{ranks}", work / f"{mode}-{ranks}.trail"
                files.mkdir()
                for name, size in FILES.items():
                    with open(files / name, "wb") as file:
                        file.truncate(size)
                run(iotrail, "-q", "record", "-o", trail, "--", program, mode, files, ranks)
                recorded[ranks] = (trail, files)
            model, (trail, files) = work / f"{mode}.toml", recorded[RECORDED]
            run(iotrail, "-q", "characterize", trail, "--path", f"{files}/**", "--names", "keep", "-o", model)
            truth = transfers(*recorded[RANKS])
            clone, scratch = work / f"{mode}.clone.trail", work / f"{mode}.scratch"
            run(iotrail, "-q", "generate", model, "--dir", scratch, "--ranks", RANKS, "--asap", "-o", clone)
            compare("generated", mode, truth, transfers(clone, scratch))
            source, own = work / f"{mode}.c", work / f"{mode}.own"
            run(iotrail, "-q", "export", "c", model, "-o", source)
            run("cc", "-O1", "-Wall", "-Wextra", "-Werror", "-DSERIAL", "-o", work / f"{mode}.app", source)
            own.mkdir()
            trail = work / f"{mode}.own.trail"
            run(iotrail, "-q", "record", "-o", trail, "--", work / f"{mode}.app", "-a", own)
            compare("as a program", mode, truth, transfers(trail, own), 1)
            size = model.stat().st_size
            if size > 16 << 10:
                problems.append(f"{mode}: a model of {size} bytes")
            print(f"{mode:8} {size} bytes, {sum(map(len, truth))} transfers at {RANKS} ranks")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
