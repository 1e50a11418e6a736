#!/usr/bin/env bash
# Sizes of structures by precision, ranks and steps; of calls of MPI alone, as libraries open many files while they start.
# usage: sizes.sh IOTRAIL      LIBRARY=openmpi RANKS="2 4 8" STEPS="20 200" PRECISIONS="100 95 80 60 0" by default
set -euo pipefail
. "$(dirname "$0")/../../scripts/tools.sh"
iotrail=$(realpath "$1")
library=${LIBRARY:-openmpi}
debian mpirun.openmpi=openmpi-bin mpicc.openmpi=libopenmpi-dev mpirun.mpich=mpich mpicc.mpich=libmpich-dev
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"mpicc.$library" -O1 -Wall -Wextra -o "$work/programs" "$root/bench/structure/programs.c"
extra=()
[ "$library" = openmpi ] && extra=(--allow-run-as-root --oversubscribe)
cd "$work"
for program in ${PROGRAMS:-stencil solver mesh}; do
  for ranks in ${RANKS:-2 4 8}; do
    for steps in ${STEPS:-20 200}; do
      rm -rf run.trail
      "mpirun.$library" "${extra[@]}" -n "$ranks" "$iotrail" -q record --mpi --calls fsync -o run.trail -- ./programs "$program" "$steps"
      line="$program, $ranks ranks, $steps steps: $(du -sb run.trail | cut -f1) bytes as a trail;"
      for precision in ${PRECISIONS:-100 95 80 60 0}; do
        "$iotrail" -q compress run.trail --precision "$precision" -o run.structure --force
        line="$line $precision %: $(stat -c %s run.structure)"
      done
      echo "$line"
    done
  done
done
