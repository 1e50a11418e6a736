#!/usr/bin/env bash
# Records MPI programs rank by rank into one trail and checks it: Debian's Open MPI and MPICH, shared file against file per process.
# usage: run.sh IOTRAIL      RANKS="1 4 16" and BLOCKS=8 by default; KEEP=DIRECTORY keeps the trails
set -euo pipefail
. "$(dirname "$0")/../../scripts/tools.sh"
iotrail=$(realpath "$1")
example="$root/examples/mpi"
debian mpirun.openmpi=openmpi-bin mpicc.openmpi=libopenmpi-dev mpirun.mpich=mpich mpicc.mpich=libmpich-dev

work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
blocks=${BLOCKS:-8}
bytes=65536

# launch LIBRARY N COMMAND...: N ranks, more than there are cores, also as root.
launch() {
  local library=$1 ranks=$2
  shift 2
  case $library in
    openmpi) mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "$@" ;;
    mpich) mpirun.mpich -n "$ranks" "$@" ;;
  esac
}

# record LIBRARY MODE N: the trail of one run, checked.
record() {
  local library=$1 mode=$2 ranks=$3
  local name="$library-$mode-$ranks"
  local files="$work/$name.files" trail="$work/$name.trail"
  mkdir -p "$files"
  if ! MPICH_ASYNC_PROGRESS=0 timeout 100 bash -c "$(declare -f launch); launch $library $ranks '$iotrail' -q record -o '$trail' --label $mode -- '$work/blocks.$library' '$files' $mode $blocks $bytes" \
    >"$work/$name.log" 2>&1; then
    cat "$work/$name.log"
    echo "$name: the run failed"
    return 1
  fi
  "$iotrail" -q check "$trail" && python3 "$root/tests/mpi/check.py" "$iotrail" "$trail" "$mode" "$ranks" "$blocks" "$bytes"
}

failed=0
for library in openmpi mpich; do
  "mpicc.$library" -O1 -Wall -Wextra -o "$work/blocks.$library" "$example/blocks.c"
  for ranks in ${RANKS:-1 4 16}; do
    for mode in ${MODES:-fpp ssf flock mpiio}; do
      record "$library" "$mode" "$ranks" || failed=1
    done
  done
  largest=$(tr ' ' '\n' <<<"${RANKS:-1 4 16}" | sort -n | tail -n 1)
  "$iotrail" -q compare "$work/$library-fpp-$largest.trail" "$work/$library-flock-$largest.trail" --by label \
    >"$work/$library.compare" || failed=1
  grep -q flock "$work/$library.compare" || { echo "$library: the comparison does not speak of flock"; failed=1; }
done
exit "$failed"
