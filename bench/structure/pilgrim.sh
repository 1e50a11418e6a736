#!/usr/bin/env bash
# Sizes of structures beside those of Pilgrim, of calls of MPI alone, under MPICH: bytes as written, and through zstd -19.
# usage: pilgrim.sh IOTRAIL PILGRIM [NPB]      RANKS="2 8 32" by default
#   PILGRIM is a clone of https://github.com/pmodels/pilgrim, NPB one of https://github.com/LLNL/NPB (benchmarks of class S on 4 ranks).
# Pilgrim keeps histograms of times, too (PILGRIM_TIMING_MODE=HIST). Of two things it is relieved, in a copy: it ends where MPICH gives
# one value to several requests, and a function without `return` loses time stamps when it is optimised.
set -euo pipefail
. "$(dirname "$0")/../../scripts/tools.sh"
iotrail=$(realpath "$1")
debian mpirun.mpich=mpich mpicc.mpich=libmpich-dev autoreconf=autoconf libtool=libtool-bin automake=automake zstd=zstd gfortran=gfortran
[ -e /usr/include/zstd.h ] || apt-get install -qq libzstd-dev autoconf-archive >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -a "$(realpath "$2")" "$work/pilgrim"
(
  cd "$work/pilgrim"
  sed -i 's/assert(entry == NULL);/if (entry != NULL) return entry->req_node->id;/' src/pilgrim_mpi_objects.c
  autoreconf -fi
  ./configure --prefix="$work/installed" CC=mpicc.mpich MPICC=mpicc.mpich CFLAGS="-O1 -fno-strict-aliasing"
  make -j2
  make install
) >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }

# measure NAME RANKS COMMAND...: a line of the table.
measure() {
  local name=$1 ranks=$2
  shift 2
  cd "$work"
  rm -rf run
  mkdir run
  cd run
  local theirs="it failed"
  if timeout 300 mpirun.mpich -n "$ranks" -genv PILGRIM_TIMING_MODE HIST -genv LD_PRELOAD "$work/installed/lib/libpilgrim.so" "$@" >log 2>&1; then
    theirs="$(find pilgrim-logs -type f -exec cat {} + | wc -c), $(tar c pilgrim-logs | zstd -19 -c | wc -c)"
  fi
  timeout 300 mpirun.mpich -n "$ranks" "$iotrail" -q record --mpi --calls fsync -o run.trail -- "$@" >log 2>&1
  local ours="" precision
  for precision in 100 0; do
    "$iotrail" -q compress run.trail --precision "$precision" -o run.structure --force
    ours="$ours | $(stat -c %s run.structure), $(zstd -19 -c run.structure | wc -c)"
  done
  echo "| $name | $ranks | $theirs$ours |"
}

"mpicc.mpich" -O1 -Wall -Wextra -Wno-stringop-overflow -o "$work/programs" "$root/bench/structure/programs.c"
echo "| program | ranks | Pilgrim | structure | at 0 % |"
for ranks in ${RANKS:-2 8 32}; do
  for program in "stencil 20" "solver 200" "mesh 20" "mesh 200"; do
    # shellcheck disable=SC2086
    measure "$program" "$ranks" "$work/programs" $program
  done
done
[ -n "${3:-}" ] || exit 0
cp -a "$(realpath "$3")" "$work/npb"
npb=$work/npb/NPB3.4/NPB3.4-MPI
sed 's/^MPIFC *=.*/MPIFC = mpif90.mpich/; s/^MPICC *=.*/MPICC = mpicc.mpich/; s/^FFLAGS.*/FFLAGS = -O2 -fallow-argument-mismatch/' "$npb/config/make.def.template" >"$npb/config/make.def"
mkdir -p "$npb/bin"
for program in CG MG LU IS; do
  make -C "$npb" "$program" CLASS=S >"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
  measure "NPB $program, class S" 4 "$npb/bin/${program,,}.S.x"
done
