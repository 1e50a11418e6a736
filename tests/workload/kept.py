"""What a clone must keep, at other numbers of ranks, too: files that are written by another name and renamed, reads of what the same session
has written, parts of a file in which ranks stay, sizes in turn, files that are read from their end, files of one form of name that are not
used alike, temporary files that get their names by links, sessions of ranks that differ in number, sizes of reads and of writes in turn, files of other
lengths, files that get a name or bytes before they are read, arrays of all ranks behind each other and headers before records, ranks with sizes of
their own, directories that get another name when all is in them, lengths that files are given. Programs are recorded with three ranks; what is generated with three and with eight,
and what the program in C does that is made of the model, is held against what the program does.

usage: kept.py IOTRAIL        (cc)
"""

import collections
import csv
import io
import itertools
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDED, RANKS = 3, 8
BLOCK, PART = 4096, 1000
MODES = ("renamed", "reread", "parts", "turns", "backwards", "ways", "own", "uneven", "both", "lengths", "before", "runs", "sized", "published", "cut")
LEVELS = ("program", "joint", "paper", "auto")
iotrail = pathlib.Path(sys.argv[1]).resolve()
problems = []


def run(*words, fails=False):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode and not fails:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {str(found)[:300]}, expected {str(wanted)[:300]}")


def transfers(trail, directory, mode):
    """Of each rank its transfers in order: kind, offset (None where threads opened and closed at once), bytes asked for, bytes moved. Nobody writes the data
    that is read, but to make it."""
    text = run(iotrail, "-q", "events", trail, "--csv", "--path", f"{directory}/**").stdout
    kinds = {"read": "read", "pread64": "read", "write": "write", "pwrite64": "write"}
    ranks = collections.defaultdict(list)
    for row in csv.DictReader(io.StringIO(text)):
        name = pathlib.Path(row["path"]).name
        kind = kinds.get(row["call"])
        makes = kind == "write" and name in ("data", "shared-1") and mode not in ("runs", "sized", "cut")
        if kind and not makes and not name.startswith("."):
            offset = int(row["offset"]) if row["offset"] else None
            ranks[row["tid"]].append((kind, offset, int(row["requested"]), int(row["size"])))
    return list(ranks.values())


def check(what, mode, ranks, number):
    """Whether these are what so many ranks do."""
    if mode in ("lengths", "before"):
        # Their files are written before.
        reads = [[moved for kind, *_, moved in own if kind == "read"] for own in ranks]
        ranks = [own for own in reads if own]
    expect(f"{what}: ranks", len(ranks), number)
    if mode == "turns":
        sizes = [4096 if at % 2 else 100 for at in range(601)]
        wanted = [("write", sum(sizes[:at]), size, size) for at, size in enumerate(sizes)]
        expect(f"{what}: sizes in turn", [own for own in ranks if own != wanted], [])
    elif mode == "backwards":
        wanted = lambda rank: [("read", BLOCK * (PART * rank + at), BLOCK, BLOCK) for at in reversed(range(PART))]
        expect(f"{what}: from the end", sorted(ranks), sorted(wanted(rank) for rank in range(number)))
    elif mode == "ways":
        blocks = lambda kind: [(kind, at * size, size, size) for size in (100, 200) for _ in range(3) for at in range(3)]
        wanted = blocks("read") + blocks("write") + [("write", 0, 1000, 1000)] * 5
        bare = lambda all: collections.Counter((kind, asked, moved) for kind, _, asked, moved in all)
        is_it = lambda own: bare(own) == bare(wanted) and {one for one in own if one[1] is not None} <= set(wanted)
        expect(f"{what}: transfers", [own for own in ranks if not is_it(own)], [])
    elif mode in ("parts", "uneven"):
        parts = [{offset // (BLOCK * PART) for _, offset, _, _ in own} for own in ranks]
        expect(f"{what}: parts", sorted(map(sorted, parts)), [[rank] for rank in range(number)])
        counts = {200} if mode == "parts" else {200, 201, 202}
        expect(f"{what}: reads", [len(own) for own in ranks if len(own) not in counts], [])
        expect(f"{what}: other places", [len(set(own)) for own in ranks if len(set(own)) <= 100], [])
    elif mode == "lengths":
        moved = lambda rank: [moved for k in range(3) for moved in (length(k, rank % RECORDED), 0)]
        expect(f"{what}: bytes", sorted(ranks), sorted(moved(rank) for rank in range(number)))
    elif mode == "before":
        moved = lambda rank: [length(1, rank % RECORDED), 0, length(2, rank % RECORDED) + 100, 0]
        expect(f"{what}: bytes", sorted(ranks), sorted(moved(rank) for rank in range(number)))
    elif mode == "own":
        wanted = [(kind, at, 500, 500) for _ in range(3) for kind in ("write", "read") for at in (0, 500)]
        expect(f"{what}: transfers", [own for own in ranks if collections.Counter(own) != collections.Counter(wanted)], [])
    elif mode == "both":
        wanted, written, taken = [], 0, 0
        for at in range(300):
            size, part = (200 if at % 2 else 100), 50 + at % 3 * 10
            wanted += [("write", written, size, size), ("read", taken, part, part)]
            written, taken = written + size, taken + part
        expect(f"{what}: sizes in turn", [own for own in ranks if own != wanted], [])
    elif mode == "runs":
        arrays = lambda rank: [(4000 * rank, 4000)] + [(4000 * number + 6000 * rank + at, 3000) for at in (0, 3000)]
        records = [one for k in range(3) for one in [(0, 64)] + [(64 + 5000 * k + 1000 * at, 1000) for at in range(5)]]
        wanted = lambda rank: [("write", offset, size, size) for offset, size in arrays(rank) + records]
        expect(f"{what}: transfers", sorted(map(sorted, ranks)), sorted(sorted(wanted(rank)) for rank in range(number)))
    elif mode == "sized":
        size = lambda rank: 100 * min(rank + 1, 3)
        wanted = lambda rank: [("write", BLOCK * PART * rank + at * size(rank), size(rank), size(rank)) for at in range(8)]
        expect(f"{what}: transfers", sorted(ranks), sorted(wanted(rank) for rank in range(number)))
    elif mode == "cut":
        wanted = lambda rank: [("read", 0, 1 << 16, 700), ("read", 1 << 16, 1 << 16, 0), ("write", 0, 2000, 2000), ("write", 1000 * rank, 100, 100)]
        found = sorted(sorted((kind, 1 << 16 if moved == 0 else offset, asked, moved) for kind, offset, asked, moved in own) for own in ranks)
        expect(f"{what}: transfers", found, sorted(sorted(wanted(rank)) for rank in range(number)))
    elif mode == "published":
        moved = collections.Counter({("write", 2000): 3, ("write", 500): 3, ("read", 2000): 3, ("read", 0): 3})
        found = [collections.Counter((kind, moved) for kind, _, _, moved in own) for own in ranks]
        expect(f"{what}: transfers", [own for own in found if own != moved], [])
    elif mode == "reread":
        short = [(kind, moved) for own in ranks for kind, _, asked, moved in own if moved != asked]
        expect(f"{what}: reads that find less", short, [])
        # Records are read that were written long before.
        far = [sum(kind == "read" and offset < 512 * 100 for kind, offset, _, _ in own) for own in ranks]
        expect(f"{what}: early records are read", all(count > 50 for count in far), True)


def length(k, rank):
    """Bytes of the k-th file that a rank reads."""
    return 1000 * (k + 1) + 100 * rank


def names(directory):
    return sorted(path.name for path in directory.iterdir() if not path.name.startswith("."))


NAMES = {"renamed": ("done", "result"), "own": ("final0", "final1", "final2", "made")}


def check_names(what, mode, directory, number, is_kept):
    if is_kept and mode == "cut":
        expect(f"{what}: length", (directory / "parts").stat().st_size, 1000 * number)
    if is_kept and mode in NAMES:
        expect(f"{what}: names", names(directory), sorted(f"{name}.{rank}" for name in NAMES[mode] for rank in range(number)))


def record(work, program, mode):
    files, trail = work / mode, work / f"{mode}.trail"
    files.mkdir()
    with open(files / "data", "wb") as data:
        data.truncate(BLOCK * PART * RANKS)
    for k, rank in itertools.product(range(3), range(RECORDED)):
        (files / f"in{k}.{rank}").write_bytes(bytes(length(k, rank)))
    run(iotrail, "-q", "record", "-o", trail, "--", program, mode, files, RECORDED)
    return files, trail


def try_level(work, mode, level, trail, files):
    model = work / f"{mode}.{level}.toml"
    keeps = level in ("program", "joint")
    run(iotrail, "-q", "characterize", trail, "--path", f"{files}/**", "--level", level, *(["--names", "keep"] if keeps else []), "-o", model)
    for number in (RECORDED, RANKS):
        what, scratch, clone = f"{mode}, {level}, {number} ranks", work / f"{mode}.{level}.{number}", work / f"{mode}.{level}.{number}.trail"
        done = run(iotrail, "generate", model, "--dir", scratch, "--ranks", number, "--asap", "--keep", "-o", clone, fails=True)
        expect(f"{what}: status", (done.returncode, "FAILED" in done.stderr + done.stdout), (0, False))
        check_names(what, mode, scratch, number, keeps)
        if mode != "renamed" and level != "paper":
            check(what, mode, transfers(clone, scratch, mode), number)
    return model


def try_in_c(work, mode, model):
    source, own, trail = work / f"{mode}.c", work / f"{mode}.own", work / f"{mode}.own.trail"
    run(iotrail, "-q", "export", "c", model, "-o", source)
    run("cc", "-O1", "-Wall", "-Wextra", "-Werror", "-DSERIAL", "-o", work / f"{mode}.app", source)
    own.mkdir()
    run(iotrail, "-q", "record", "-o", trail, "--", work / f"{mode}.app", "-a", own)
    check_names(f"{mode}, in C", mode, own, 1, True)
    if mode != "renamed":
        check(f"{mode}, in C", mode, transfers(trail, own, mode), 1)


def main():
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        program = work / "kept"
        run("cc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "kept.c")
        for mode in MODES:
            files, trail = record(work, program, mode)
            models = {level: try_level(work, mode, level, trail, files) for level in LEVELS}
            try_in_c(work, mode, models["program"])
            print(f"{mode:9} {', '.join(f'{level} {model.stat().st_size} bytes' for level, model in models.items())}")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
