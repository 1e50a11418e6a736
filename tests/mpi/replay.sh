#!/usr/bin/env bash
# Records programs of random calls of MPI and makes them again, each under Open MPI and MPICH: none may wait for ever, and all calls are made.
# usage: replay.sh IOTRAIL      PROGRAMS=9 RANKS=3 STEPS=40 FIRST=1 by default; PRECISIONS="100 80 0" for each program, else one in turn
set -euo pipefail
. "$(dirname "$0")/../../scripts/tools.sh"
iotrail=$(realpath "$1")
debian mpirun.openmpi=openmpi-bin mpicc.openmpi=libopenmpi-dev mpirun.mpich=mpich mpicc.mpich=libmpich-dev
ranks=${RANKS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# launch LIBRARY COMMAND...: all ranks, more than there are cores, also as root.
launch() {
  local library=$1
  shift
  case $library in
    openmpi) timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "$@" ;;
    mpich) timeout 100 mpirun.mpich -n "$ranks" "$@" ;;
  esac
}

# same_calls PRECISION ONE OTHER: the same calls, whichever library makes them. Where messages are drawn, those of other communicators than
# that of all ranks are left out.
same_calls() {
  python3 - "$@" <<'PYTHON'
import json, sys
figures = []
precision, *names = sys.argv[1:]
for name in names:
    with open(name) as file:
        found = json.load(file)
    for left in found["not_replayed"]:
        if left["reason"] == "unknown" or left["reason"] == "communicator" and precision == "100" or left["reason"] == "unsupported" and any(call.startswith("MPI_") for call in left["by_call"]):
            sys.exit(f"left out: {left}")
    figures.append({key: found[key] for key in ("calls", "bytes_read", "bytes_written", "mpi", "differences")})
    figures[-1]["mpi"].pop("unfinished")
if figures[0] != figures[1]:
    sys.exit(f"not the same calls: {figures}")
PYTHON
}

failed=0
for library in openmpi mpich; do
  "mpicc.$library" -O1 -Wall -Wextra -o "$work/random.$library" "$root/tests/mpi/random.c"
done
first=${FIRST:-1}
turns=(100 80 0)
for seed in $(seq "$first" $((first + ${PROGRAMS:-9} - 1))); do
  [ $((seed % 2)) = 0 ] && recorded=openmpi || recorded=mpich
  rm -rf "$work/run" "$work/run.trail"
  mkdir "$work/run"
  launch $recorded "$iotrail" -q record --mpi -o "$work/run.trail" -- "$work/random.$recorded" "$work/run" "$seed" "${STEPS:-40}"
  for precision in ${PRECISIONS:-${turns[seed % 3]}}; do
    "$iotrail" -q compress "$work/run.trail" -o "$work/run.structure" --force --precision "$precision"
    for library in openmpi mpich; do
      begin=$(date +%s%N)
      if ! launch $library "$iotrail" replay "$work/run.structure" --dir "$work/again" --compute none --verify --json \
        >"$work/$library.json" 2>"$work/log"; then
        echo "seed $seed, precision $precision: recorded under $recorded, replayed under $library: failed"
        tail -n 20 "$work/log"
        failed=1
        "$iotrail" -q replay --clean --dir "$work/again" 2>/dev/null || rm -rf "$work/again"
      else
        echo "seed $seed, precision $precision: $recorded, $library: $(((($(date +%s%N) - begin)) / 1000000)) ms"
      fi
    done
    same_calls "$precision" "$work/openmpi.json" "$work/mpich.json" || failed=1
  done
done
exit "$failed"
