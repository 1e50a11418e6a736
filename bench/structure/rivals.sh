#!/usr/bin/env bash
# Structures beside other tools that trace MPI, under MPICH. Only those are measured whose library is given.
# usage: rivals.sh IOTRAIL [pilgrim=LIBRARY] [scalatrace=DIRECTORY] [recorder=LIBRARY] [npb=DIRECTORY] [sizes|steps|checkpoint|cost|replay]...
#   LIBRARY is libpilgrim.so or librecorder.so, built with MPICH; the directory of ScalaTrace has libglob.a, libstackwalk.a and replay,
#   that of NPB (https://github.com/LLNL/NPB) cg.S.x, mg.S.x, lu.S.x, is.S.x and, for replay, cg.A.x and mg.A.x.
#   Without sizes, steps, ... all of them are measured. RANKS="2 8 32", REPEAT=5 and CALLS=1000000 by default.
# Sizes are bytes as written and through zstd -19. Pilgrim keeps histograms of times, too (PILGRIM_TIMING_MODE=HIST).
set -euo pipefail
. "$(dirname "$0")/../../scripts/tools.sh"
iotrail=$(realpath "$1")
shift
pilgrim='' scalatrace='' recorder='' npb='' what=()
for argument in "$@"; do
  case $argument in
    pilgrim=* | scalatrace=* | recorder=* | npb=*) declare "${argument%%=*}=$(realpath "${argument#*=}")" ;;
    *) what+=("$argument") ;;
  esac
done
[ ${#what[@]} -gt 0 ] || what=(sizes steps checkpoint cost replay)
debian mpirun.mpich=mpich mpicc.mpich=libmpich-dev zstd=zstd jq=jq gcc=gcc /usr/bin/time=time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

gcc -O2 -shared -fPIC -o "$work/yield.so" "$root/bench/structure/yield.c" -ldl
mpicc.mpich -O1 -Wall -Wextra -Wno-stringop-overflow -o "$work/programs" "$root/bench/structure/programs.c"
if [ -n "$scalatrace" ]; then # walks frame pointers, and keeps addresses: not position-independent, without address space randomisation
  mpicc.mpich -O1 -fno-omit-frame-pointer -fno-pie -Wno-stringop-overflow -c -o "$work/programs.o" "$root/bench/structure/programs.c"
  mpicxx.mpich -no-pie -o "$work/programs.scalatrace" "$work/programs.o" -L"$scalatrace" -lglob -lstackwalk -lpapi
fi

# ranks N [NAME=VALUE]... COMMAND...: with these variables, in an empty directory.
ranks() {
  local number=$1 preload=$work/yield.so variables=()
  shift
  while [[ $1 == *=* ]]; do
    if [[ $1 == LD_PRELOAD=* ]]; then preload=$preload:${1#*=}; else variables+=(-genv "${1%%=*}" "${1#*=}"); fi
    shift
  done
  rm -rf "$work/run"
  mkdir "$work/run"
  (cd "$work/run" && timeout 600 mpirun.mpich -n "$number" "${variables[@]}" -genv LD_PRELOAD "$preload" "$@")
}

# size FILE...: as written, through zstd -19; directories as their files and as tar.
size() {
  if [ -d "$1" ]; then
    echo "$(find "$@" -type f -exec cat {} + | wc -c), $(tar c -C "$(dirname "$1")" "$(basename "$1")" | zstd -q -19 -c | wc -c)"
  else
    echo "$(stat -c %s "$1"), $(zstd -q -19 -c "$1" | wc -c)"
  fi
}

# ours RANKS STACK CALLS PRECISIONS COMMAND...: sizes of structures at these precisions.
ours() {
  local number=$1 stack=$2 calls=$3 precisions=$4 line="" precision
  shift 4
  rm -rf "$work/recorded.trail"
  ranks "$number" "$iotrail" -q record --mpi --stack "$stack" --calls "$calls" -o "$work/recorded.trail" -- "$@" >"$work/log" 2>&1
  for precision in $precisions; do
    "$iotrail" -q compress "$work/recorded.trail" --precision "$precision" -o "$work/recorded.structure" --force
    line="$line | $(size "$work/recorded.structure")"
  done
  echo "$line"
}

# beside NAME RANKS COMMAND...: a line of the table of sizes; of ScalaTrace for programs of our own.
beside() {
  local name=$1 number=$2 theirs=-
  shift 2
  if [ -n "$pilgrim" ]; then
    theirs=failed
    if ranks "$number" PILGRIM_TIMING_MODE=HIST LD_PRELOAD="$pilgrim" "$@" >"$work/log" 2>&1; then theirs=$(size "$work/run/pilgrim-logs"); fi
  fi
  if [ -n "$scalatrace" ] && [ "$1" = "$work/programs" ]; then
    if ranks "$number" setarch -R "$work/programs.scalatrace" "${@:2}" >"$work/log" 2>&1; then
      theirs="$theirs | $(size "$work/run/trace_$number/0")"
    else
      theirs="$theirs | failed"
    fi
  else
    theirs="$theirs | -"
  fi
  echo "| $name | $number | $theirs$(ours "$number" 0 fsync "100 0" "$@")$(ours "$number" 16 fsync "100 0" "$@") |"
}

sizes() {
  local number program
  echo "| program | ranks | Pilgrim | ScalaTrace | structure | at 0 % | with --stack 16 | at 0 % |"
  for number in ${RANKS:-2 8 32}; do
    for program in "stencil 20" "solver 200" "mesh 20" "mesh 200"; do
      # shellcheck disable=SC2086
      beside "$program" "$number" "$work/programs" $program
    done
  done
  [ -n "$npb" ] || return 0
  for program in CG MG LU IS; do
    beside "NPB $program, class S" 4 "$npb/${program,,}.S.x"
  done
}

steps() {
  local number
  echo "| solver, ranks | 100 % | 80 % | 60 % | 40 % | 0 % |"
  for number in 20 200 2000; do
    echo "| $number steps on 4$(ours 4 0 fsync "100 80 60 40 0" "$work/programs" solver "$number") |"
  done
}

checkpoint() {
  local number theirs together
  echo "| steps on 32 ranks | Recorder | ranks together | structure | at 0 % | with --stack 16 | at 0 % | all calls |"
  for number in 20 200; do
    theirs=failed together=failed
    if ranks 32 LD_PRELOAD="$recorder" "$work/programs" checkpoint "$number" >"$work/log" 2>&1; then
      theirs=$(size "$(echo "$work"/run/recorder-*/*)")
    fi
    if ranks 32 RECORDER_INTERPROCESS_COMPRESSION=1 LD_PRELOAD="$recorder" "$work/programs" checkpoint "$number" >"$work/log" 2>&1; then
      together=$(size "$(echo "$work"/run/recorder-*/*)")
    fi
    theirs="$theirs | $together$(ours 32 0 pwrite64,fsync "100 0" "$work/programs" checkpoint "$number")"
    theirs="$theirs$(ours 32 16 pwrite64,fsync "100 0" "$work/programs" checkpoint "$number")"
    echo "| $number | $theirs$(ours 32 0 io 100 "$work/programs" checkpoint "$number") |"
  done
}

# call TOOL RANKS KIND CALLS: CPU ns of a call in the program, kB of memory of the program, CPU seconds and kB of all processes.
call() {
  local tool=$1 number=$2 run=(/usr/bin/time -f "%U %S %M" -o "$work/time" mpirun.mpich -n "$2" -genv LD_PRELOAD)
  shift 2
  rm -rf "$work/run"
  mkdir "$work/run"
  (
    cd "$work/run"
    case $tool in
      bare) "${run[@]}" "$work/yield.so" "$work/programs" "$@" ;;
      Pilgrim) "${run[@]}" "$work/yield.so:$pilgrim" -genv PILGRIM_TIMING_MODE HIST "$work/programs" "$@" ;;
      ScalaTrace) "${run[@]}" "$work/yield.so" setarch -R "$work/programs.scalatrace" "$@" ;;
      trail) "${run[@]}" "$work/yield.so" "$iotrail" -q record --mpi --calls fsync -o run.trail -- "$work/programs" "$@" ;;
      stack) "${run[@]}" "$work/yield.so" "$iotrail" -q record --mpi --stack 16 --calls fsync -o run.trail -- "$work/programs" "$@" ;;
      structure) "${run[@]}" "$work/yield.so" "$iotrail" -q record --mpi --stack 16 --calls fsync -o run.structure -- "$work/programs" "$@" ;;
    esac
  ) 2>"$work/log" | grep -E '^[0-9.]+ [0-9]+$' | tr '\n' ' '
  awk '{ print $1 + $2, $3 }' "$work/time"
}

cost() {
  local kind number count tool round tools=(bare) bare="" line
  [ -z "$pilgrim" ] || tools+=(Pilgrim)
  [ -z "$scalatrace" ] || tools+=(ScalaTrace)
  tools+=(trail stack structure)
  echo "| calls | ranks | with | us of a call, in the program | all processes | kB, in the program | largest process |"
  for kind in rank iprobe sendrecv allreduce irregular; do
    number=1
    [ "$kind" != allreduce ] || number=2
    rm -f "$work"/cost.*
    for ((round = 0; round < ${REPEAT:-5}; round++)); do
      for tool in "${tools[@]}"; do
        count=${CALLS:-1000000}
        [ "$tool$kind" != ScalaTraceirregular ] || count=$((count / 100))
        line=$(call "$tool" "$number" "$kind" "$count")
        echo "$count $line" >>"$work/cost.$tool"
      done
    done
    for tool in "${tools[@]}"; do
      # the least of each, less that of the program alone; all processes: of ranks times calls
      line=$(awk -v ranks="$number" 'NF == 5 { for (at = 2; at <= 5; at++) if (!(at in least) || $at < least[at]) least[at] = $at; n = $1 }
        END { print least[2], least[4] * 1e9 / ranks / n, least[3], least[5] }' "$work/cost.$tool")
      [ "$tool" != bare ] || bare=$line
      awk -v kind="$kind" -v ranks="$number" -v tool="$tool" '{ split($0, all, " ") }
        END { printf "| %s | %d | %s | %.3f | %.3f | %d | %d |\n", kind, ranks, tool, (all[1] - all[5]) / 1000, (all[2] - all[6]) / 1000, all[3] - all[7], all[4] - all[8] }' <<<"$line $bare"
    done
  done
}

# seconds RANKS COMMAND...: elapsed time of a run.
seconds() {
  local TIMEFORMAT=%R
  { time ranks "$@" >"$work/log" 2>&1; } 2>&1
}

# median FILE: of its numbers.
median() {
  sort -g "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# again NAME RANKS COMMAND...: elapsed time of a program and its replays, alternating: of all, and from the end of MPI_Init to MPI_Finalize.
again() {
  local name=$1 number=$2 round precision
  shift 2
  rm -rf "$work/recorded.trail" "$work"/elapsed.*
  ranks "$number" "$iotrail" -q record --mpi --calls fsync -o "$work/recorded.trail" -- "$@" >"$work/log" 2>&1
  for precision in 100 0; do
    "$iotrail" -q compress "$work/recorded.trail" --precision $precision -o "$work/$precision.structure" --force
  done
  local theirs=""
  if [ -n "$scalatrace" ] && [ "$1" = "$work/programs" ] && ranks "$number" setarch -R "$work/programs.scalatrace" "${@:2}" >"$work/log" 2>&1; then
    cp "$work/run/trace_$number/0" "$work/trace"
    theirs=yes
  fi
  for ((round = 0; round < ${REPEAT:-5}; round++)); do
    seconds "$number" "$@" >>"$work/elapsed.program"
    [ -z "$theirs" ] || seconds "$number" setarch -R "$scalatrace/replay" ../trace >>"$work/elapsed.scalatrace"
    for precision in 100 0; do
      seconds "$number" "$iotrail" -q replay "$work/$precision.structure" --dir "$work/run/files" --json >>"$work/elapsed.$precision"
      jq '(.elapsed_ns / .recorded_ns - 1) * 100' "$work/log" >>"$work/elapsed.calls.$precision"
    done
  done
  printf '| %s | %s | %s s' "$name" "$number" "$(median "$work/elapsed.program")"
  for precision in 100 0; do
    awk -v program="$(median "$work/elapsed.program")" -v all="$(median "$work/elapsed.$precision")" -v calls="$(median "$work/elapsed.calls.$precision")" \
      'BEGIN { printf " | %+.0f %%, %+.0f %%", (all / program - 1) * 100, calls }'
  done
  [ -z "$theirs" ] || awk -v program="$(median "$work/elapsed.program")" -v all="$(median "$work/elapsed.scalatrace")" \
    'BEGIN { printf " | %+.0f %%", (all / program - 1) * 100 }'
  echo " |"
}

replay() {
  local number program
  echo "| program | ranks | elapsed | replay: all, calls | at 0 %: all, calls | ScalaTrace: all |"
  for number in ${RANKS:-2 4 8}; do
    for program in "stencil 1000 2000" "solver 50 2000" "mesh 1000 2000"; do
      # shellcheck disable=SC2086
      again "${program% *}" "$number" "$work/programs" $program
    done
    [ -n "$npb" ] || continue
    for program in CG MG; do
      again "NPB $program, class A" "$number" "$npb/${program,,}.A.x"
    done
  done
}

for measurement in "${what[@]}"; do
  "$measurement"
done
