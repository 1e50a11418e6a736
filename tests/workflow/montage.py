"""Plans a small run of Montage, the workflow of the ParaTrac paper, in a directory: tiles of the sky with overlaps, tables, a Makefile.

usage: montage.py DIRECTORY [COLUMNS ROWS WIDTH HEIGHT]     then: make -C DIRECTORY -j2

Odd columns are shifted by half a tile, so each tile overlaps with up to six others; the stars are noise, the overlaps are true.
Needs the programs of Montage (Debian: montage). The same arguments make the same bytes.
"""
import array
import math
import random
import subprocess
import sys
from pathlib import Path

PROGRAMS = ("mProjectPP", "mDiffFit", "mDiff", "mFitplane", "mConcatFit", "mBgModel", "mBackground", "mImgtbl", "mMakeHdr", "mOverlaps", "mAdd")
DEGREES = 1 / 3600  # of a pixel


def plan(directory, columns=2, rows=5, width=128, height=256):
    """Makes DIRECTORY with everything that `make` needs; answers the numbers of tiles and of overlaps."""
    (directory / "raw").mkdir(parents=True)
    names = [tile(directory / "raw", column, row, width, height) for column in range(columns) for row in range(rows)]
    table(directory / "rlist.tbl", ["fname"], [[name] for name in names])
    table(directory / "plist.tbl", ["fname"], [[f"p_{name}"] for name in names])
    table(directory / "clist.tbl", ["fname"], [[f"c_{name}"] for name in names])
    for command in (["mImgtbl", "-t", "rlist.tbl", "raw", "rimages.tbl"], ["mMakeHdr", "rimages.tbl", "region.hdr"],
                    ["mOverlaps", "rimages.tbl", "rdiffs.tbl"]):
        subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL)
    pairs = overlaps(directory / "rdiffs.tbl")
    fits = [f"fit.{a:06}.{b:06}.txt" for a, b in pairs]
    table(directory / "statfile.tbl", ["cntr1", "cntr2", "stat"], [[a, b, fit] for (a, b), fit in zip(pairs, fits)],
          ["int", "int", "char"])
    (directory / "Makefile").write_text(makefile(names, pairs, fits))
    return len(names), len(pairs)


def tile(directory, column, row, width, height):
    """An image in the format FITS 4.0: cards of 80 characters, blocks of 2,880 bytes, big-endian."""
    dice = random.Random(f"{column} {row}")
    step_x, step_y = width - width // 8, height - height // 16
    x, y = column * step_x, row * step_y + (step_y // 2 if column % 2 else 0)
    declination = 54.35 + y * DEGREES
    cards = {"SIMPLE": True, "BITPIX": -32, "NAXIS": 2, "NAXIS1": width, "NAXIS2": height, "CTYPE1": "RA---SIN", "CTYPE2": "DEC--SIN",
             "CRVAL1": 210.8 - x * DEGREES / math.cos(math.radians(declination)), "CRVAL2": declination, "CRPIX1": width / 2 + 0.5,
             "CRPIX2": height / 2 + 0.5, "CDELT1": -DEGREES, "CDELT2": DEGREES, "CROTA2": dice.uniform(-0.05, 0.05), "EQUINOX": 2000.0}
    header = "".join(f"{key:8}= {card(value):>20}".ljust(80) for key, value in cards.items()) + "END".ljust(80)
    level, slope = dice.uniform(60, 140), dice.uniform(-0.01, 0.01)
    pixels = array.array("f", (level + slope * (n % width) + dice.gauss(0, 1.5) for n in range(width * height)))
    if sys.byteorder == "little":
        pixels.byteswap()
    name = f"tile_{column:02}_{row:02}.fits"
    (directory / name).write_bytes(blocks(header.encode()) + blocks(pixels.tobytes(), b"\0"))
    return name


def card(value):
    if isinstance(value, bool):
        return "T" if value else "F"
    return f"'{value:8}'".ljust(20) if isinstance(value, str) else repr(value)


def blocks(data, fill=b" "):
    return data + fill * (-len(data) % 2880)


def table(path, columns, rows, kinds=None):
    """A table in IPAC's format."""
    kinds = kinds or ["char"] * len(columns)
    widths = [max(len(str(cell)) for cell in cells) + 2 for cells in zip(columns, kinds, *rows)]
    line = lambda cells, bar: bar + bar.join(str(cell).rjust(width) for cell, width in zip(cells, widths)) + bar + "\n"
    path.write_text(line(columns, "|") + line(kinds, "|") + "".join(line(row, " ") for row in rows))


def overlaps(path):
    rows = (line.split() for line in path.read_text().splitlines() if line.strip() and line[0] not in "|\\")
    return [(int(row[0]), int(row[1])) for row in rows]


def makefile(names, pairs, fits):
    rules = ["all: mosaic.fits"]
    rule = lambda target, needs, command: rules.append(f"{target}: {' '.join(needs)}\n\t{command}")
    for name in names:
        rule(f"p_{name}", [f"raw/{name}", "region.hdr"], f"mProjectPP -X raw/{name} p_{name} region.hdr")
    for (a, b), fit in zip(pairs, fits):
        first, second = f"p_{names[a]}", f"p_{names[b]}"
        rule(fit, [first, second, "region.hdr"], f"mDiffFit -s {fit} {first} {second} diff.{a:06}.{b:06}.fits region.hdr")
    rule("pimages.tbl", [f"p_{name}" for name in names], "mImgtbl -t plist.tbl . pimages.tbl")
    rule("fits.tbl", ["statfile.tbl", *fits], "mConcatFit statfile.tbl fits.tbl .")
    rule("corrections.tbl", ["fits.tbl", "pimages.tbl"], "mBgModel pimages.tbl fits.tbl corrections.tbl")
    for name in names:
        needs = [f"p_{name}", "pimages.tbl", "corrections.tbl"]
        rule(f"c_{name}", needs, f"mBackground -t p_{name} c_{name} pimages.tbl corrections.tbl")
    rule("cimages.tbl", [f"c_{name}" for name in names], "mImgtbl -t clist.tbl . cimages.tbl")
    rule("mosaic.fits", ["cimages.tbl", "region.hdr"], "mAdd -e cimages.tbl region.hdr mosaic.fits")
    return "\n".join(rules) + "\n"


if __name__ == "__main__":
    tiles, found = plan(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    print(tiles, "tiles", found, "overlaps")
