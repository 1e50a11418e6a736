"""Checks the Markdown pages: docs/README.md lists each of them, every relative link has a target, every `iotrail COMMAND` in a code block exists, and the
command reference docs/commands.md is what `iotrail COMMAND --help` prints.

usage: check_docs.py [--write]     (--write renews docs/commands.md)
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "commands.md"
# As scripts/test.sh builds it, so that nothing is compiled twice.
BUILD = "cargo build --workspace --exclude iotrail-sql --features iotrail/sqlite --locked --quiet --lib --bin iotrail --test program".split()
IOTRAIL = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "debug" / "iotrail"


def main():
    subprocess.run(BUILD, cwd=ROOT, check=True)
    reference = command_reference()
    if "--write" in sys.argv:
        REFERENCE.write_text(reference)
    problems = unlisted()
    problems += [] if REFERENCE.exists() and REFERENCE.read_text() == reference else [
        "docs/commands.md is not what --help prints: run `python3 scripts/check_docs.py --write`"]
    pages = [page for pattern in ("*.md", "docs/*.md") for page in sorted(ROOT.glob(pattern))]
    for page in pages:
        problems += dead_links(page) + unknown_commands(page)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"docs: {len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0


def help_of(*words):
    env = {"PATH": os.environ["PATH"], "COLUMNS": "110", "NO_COLOR": "1"}
    return subprocess.run([IOTRAIL, *words, "--help"], capture_output=True, text=True, check=True, env=env).stdout


def commands():
    """The commands of the first screen, in its order."""
    listing = help_of().split("\nRecord:\n")[1].split("\nOptions:\n")[0]
    return re.findall(r"^  (\S+)", listing, re.M)


def inner_commands(name):
    """The commands below a command."""
    _, _, listing = help_of(name).partition("\nCommands:\n")
    return re.findall(r"^  (\S+)", listing.split("\n\n")[0], re.M)


def command_reference():
    parts = ["# Command reference\n\nWhat `iotrail COMMAND --help` prints.\n", f"```text\n{help_of()}```\n"]
    for name in commands():
        parts.append(f"## iotrail {name}\n\n```text\n{help_of(name)}```\n")
        parts += [f"### iotrail {name} {inner}\n\n```text\n{help_of(name, inner)}```\n" for inner in inner_commands(name)]
    return "\n".join(re.sub(r"[ \t]+$", "", part, flags=re.M) for part in parts)


def unlisted():
    """Pages that the guide's list does not have."""
    guide = (ROOT / "docs" / "README.md").read_text()
    pages = sorted(page.name for page in (ROOT / "docs").glob("*.md"))
    return [f"docs/README.md: {name} is not listed" for name in pages if name != "README.md" and f"({name})" not in guide]


def dead_links(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        if not (page.parent / target.split("#")[0]).exists():
            found.append(f"{page.relative_to(ROOT)}: dead link {target}")
    return found


def unknown_commands(page):
    known = set(commands()) | {"graph", "COMMAND"}
    blocks = "\n".join(re.findall(r"```(?:sh|console|bash)?\n(.*?)```", page.read_text(), flags=re.S))
    called = set(re.findall(r"^\s*(?:\$ )?iotrail ([a-z]+)", blocks, re.M))
    return [f"{page.relative_to(ROOT)}: no command `iotrail {name}`" for name in sorted(called - known)]


if __name__ == "__main__":
    sys.exit(main())
