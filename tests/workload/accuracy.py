"""How near clones of real programs come to them: each is recorded, characterised, and validated; a table of what is not equal.

usage: accuracy.py IOTRAIL [--runs N] [--level LEVEL]... [PROGRAM...]

Prints Markdown (docs/workload-accuracy.md) to stdout. Times depend on what else the machine does; all other figures do not.
"""
import argparse
import collections
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))
import montage

parser = argparse.ArgumentParser()
parser.add_argument("iotrail", type=Path)
parser.add_argument("--runs", type=int, default=7)
parser.add_argument("--level", action="append", default=[])
parser.add_argument("programs", nargs="*", metavar="PROGRAM")
args = parser.parse_args()
iotrail = args.iotrail.resolve()

SQL = "DROP TABLE IF EXISTS t;\nCREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, size INTEGER);\n" + "".join(
    "BEGIN;\n" + "".join(f"INSERT INTO t(name, size) VALUES ('file-{at}-{row}', {row * 977 % 5003});\n" for row in range(200)) + "COMMIT;\n"
    for at in range(12)
) + "CREATE INDEX i ON t(size);\nSELECT count(*), sum(size) FROM t WHERE size > 2500;\n"

# What starts the program is the program: a shell would be a rank of its own.
PROGRAMS = {
    "sqlite3": "exec sqlite3 t.db '.read script.sql'",
    "tar": "exec tar -cf a.tar src",
    "git add": "rm -f repo/.git/index; cd repo; exec git add .",
    "nccopy": "exec nccopy -k nc4 in.nc out.nc",
    "rsync": "rm -rf copy; exec rsync -a src/ copy/",
    "Montage": "rm -rf mosaic; cp -a plan mosaic; exec make -s -C mosaic -j2 >/dev/null",
    "fio": "exec fio --name=mix --rw=randrw --bs=4k --size=1m --io_size=512k --ioengine=psync --fallocate=none --randseed=7 --filename=x.dat",
}
BEST = ["equal", "within noise", "within tolerance", "undecided", "differs"]


def run(*words, cwd, check=True):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=900)
    if check and done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def stage(work):
    (work / "script.sql").write_text(SQL)
    source = work / "src"
    source.mkdir()
    for number in range(60):
        (source / f"f{number}").write_bytes(bytes((number * 31 + at) % 251 for at in range(1000 + 700 * number)))
    values = ", ".join(str(at % 97) for at in range(40_000))
    (work / "in.cdl").write_text(f"netcdf in {{ dimensions: x = 200; y = 200; variables: float t(x, y); data: t = {values}; }}\n")
    run("ncgen", "-o", "in.nc", "in.cdl", cwd=work)
    run("git", "init", "-q", "repo", cwd=work)
    run("sh", "-c", "cp src/f1* repo/", cwd=work)
    montage.plan(work / "plan", 2, 2, 64, 128)
    run("fio", "--name=x", "--size=1m", "--filename=x.dat", "--create_only=1", cwd=work)


def judged(name, line, level):
    with tempfile.TemporaryDirectory(prefix="accuracy-") as directory:
        work = Path(directory).resolve()
        stage(work)
        line = f"cd {work}; {line}"
        paths = ["--path", f"{work}/**"]
        # Later runs find what the first one made.
        run("sh", "-c", line, cwd=work)
        run(iotrail, "-q", "record", "-o", "t.trail", "--", "sh", "-c", line, cwd=work)
        found = json.loads(run(iotrail, "-q", "characterize", "t.trail", *paths, *level, "-o", "m.toml", "--json", cwd=work).stdout)
        words = [iotrail, "-q", "validate", "m.toml", "--dir", "scratch", "--runs", args.runs, "--app", line, "--json", *paths]
        result = json.loads(run(*words, cwd=work).stdout)
        return found, result, len((work / "m.toml").read_text())


def said(value):
    if value is None:
        return "–"
    mean = value[1]
    return f"{mean:,.0f}" if mean >= 100 or mean == int(mean) else f"{mean:.3g}"


def main():
    levels = [["--level", level] for level in args.level] or [[]]
    summary, details = [], []
    for name in args.programs or PROGRAMS:
        for level in levels:
            found, result, size = judged(name, PROGRAMS[name], level)
            counts = collections.Counter(figure["verdict"] for figure in result["figures"])
            label = f"{name} ({level[1]})" if level else name
            cells = " | ".join(str(counts.get(verdict, 0)) for verdict in BEST)
            summary.append(f"| {label} | {found['ranks']} | {found['requests']:,} | {size:,} | {cells} |")
            for figure in sorted(result["figures"], key=lambda one: -BEST.index(one["verdict"])):
                if figure["verdict"] in ("equal",):
                    continue
                row = [label, figure["class"], figure["name"], said(figure["program"]), said(figure["clone"])]
                row += [f"{figure['distance']:.1%}", f"{figure['noise']:.1%}", figure["verdict"]]
                details.append("| " + " | ".join(row) + " |")
            print(summary[-1], file=sys.stderr, flush=True)
    print("| program | ranks | requests | model (bytes) | " + " | ".join(BEST) + " |\n|---|---|---|---|" + "---|" * len(BEST))
    print("\n".join(summary))
    print("\n| program | files | figure | program | clone | distance | noise | verdict |\n|---|---|---|---|---|---|---|---|")
    print("\n".join(details))


if shutil.which("fio") is None:
    sys.exit("fio, rsync, sqlite3, git, netcdf-bin and montage are needed")
main()
