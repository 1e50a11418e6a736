"""Proves that a recorded program behaves as an unrecorded one: real programs run twice, plain and under `iotrail record`, and
what they print, how they end and the files they make are compared.

usage: run.py IOTRAIL [--long] [--under COMMAND] [--option OPTION]... [--list] [--keep] [WORD...]

WORD selects scenarios by part of their title. --long also runs whole test suites (CPython, Debian packages; many minutes).
--under runs another tool in place of the recorder, such as `strace -f -o /dev/null`: a difference that it shares is the machine's.
"""
import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import harness
import environment, interpreters, privileges, processes, signals, suites, terminal, tools  # noqa: E401,F401 (they register scenarios)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("iotrail", type=Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--under")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_intermixed_args()


def main():
    args = arguments()
    chosen = [one for one in harness.SCENARIOS if (args.long or not one.long or args.words)
              and (not args.words or any(word in one.title for word in args.words))]
    if args.list:
        print("\n".join(one.title for one in chosen))
        return 0
    harness.adopt_orphans()
    harness.hear_signals()
    scratch = Path(tempfile.mkdtemp(prefix="faithful-"))
    scratch.chmod(0o755)
    passed, failed, skipped = 0, 0, 0
    for one in chosen:
        started = time.monotonic()
        recorder = harness.Recorder(args.iotrail.resolve(), scratch / "trails", args.under, args.option)
        try:
            problems = one.differences(recorder, scratch)
        except harness.Skip as reason:
            skipped += 1
            print(f"NOT TESTED  {one.title}: {reason}", flush=True)
            continue
        except Exception as problem:  # one broken scenario must not hide the others
            problems = [f"{type(problem).__name__}: {problem}"]
        failed += bool(problems)
        passed += not problems
        if problems:
            print(f"FAILED  {one.title} ({time.monotonic() - started:.1f} s)")
            print("".join(f"        {line}\n" for line in problems[:30]), end="", flush=True)
        elif sys.stdout.isatty() or args.words or args.long:
            print(f"passed  {one.title} ({time.monotonic() - started:.1f} s)", flush=True)
    if not args.keep:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"faithful: {passed} passed, {failed} failed, {skipped} not tested")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
