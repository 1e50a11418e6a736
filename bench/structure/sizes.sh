#!/usr/bin/env bash
# Sizes of structures by precision, ranks and steps.
# usage: sizes.sh IOTRAIL      LIBRARY=mpich RANKS="2 4 8" STEPS="30 300" PRECISIONS="100 95 80 60 0" by default
set -euo pipefail
. "$(dirname "$0")/../../scripts/tools.sh"
iotrail=$(realpath "$1")
library=${LIBRARY:-mpich}
debian mpirun.mpich=mpich mpicc.mpich=libmpich-dev
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"mpicc.$library" -O1 -Wall -Wextra -o "$work/programs" "$root/bench/structure/programs.c"
extra=()
[ "$library" = openmpi ] && extra=(--allow-run-as-root --oversubscribe)
cd "$work"
for program in ${PROGRAMS:-stencil solver mesh}; do
  for ranks in ${RANKS:-2 4 8}; do
    for steps in ${STEPS:-30 300}; do
      rm -rf run.trail
      "mpirun.$library" "${extra[@]}" -n "$ranks" "$iotrail" -q record --mpi -o run.trail -- ./programs "$program" "$steps"
      line="$program, $ranks ranks, $steps steps: $(du -sb run.trail | cut -f1) bytes as a trail;"
      for precision in ${PRECISIONS:-100 95 80 60 0}; do
        "$iotrail" -q compress run.trail --precision "$precision" -o run.structure
        line="$line $precision %: $(stat -c %s run.structure)"
      done
      echo "$line"
    done
  done
done
