#!/usr/bin/env bash
# Whole-command comparisons: text to event log, event log to graph. Prints a table of CPU seconds, MB/s and peak memory, and
# leaves it in bench/out/results.tsv. usage: run.sh [MEGABYTES, default 142]
set -euo pipefail
. "$(dirname "$0")/../scripts/tools.sh"
cd "$root"
megabytes=${1:-142}
out=$root/bench/out
mkdir -p "$out"
debian strace=strace time=time gcc=gcc make=make
bench/rivals.sh
cargo build --release --locked --quiet
cargo build --release --locked --quiet -p iotrail-strace --example parse_speed
target=${CARGO_TARGET_DIR:-$root/target}/release
iotrail=$target/iotrail
python=$cache/rivals/bin/python
corpus=$out/corpus-$megabytes.st
[ -s "$corpus" ] || bench/corpus.sh "$corpus" "$megabytes"
size=$(stat -c %s "$corpus")
results=$out/results.tsv
printf 'what\tcpu_s\tmb_per_cpu_s\tpeak_mb\n' > "$results"

# measure NAME COMMAND...: CPU seconds of the process tree and the peak memory of its largest process.
measure() {
  local name=$1
  shift
  if command time -f '%U %S %M' -o "$out/time" "$@" > "$out/stdout" 2> "$out/stderr"; then
    awk -v name="$name" -v size="$size" \
      '{ cpu = $1 + $2; printf "%s\t%.2f\t%.0f\t%.0f\n", name, cpu, size / 1e6 / (cpu > 0 ? cpu : 0.01), $3 / 1e3 }' "$out/time" >> "$results"
  else
    printf '%s\tfailed: %s\t\t\n' "$name" "$(tail -n 1 "$out/stderr")" >> "$results"
  fi
}

rm -rf "$out/corpus.trail"
measure "wc -l" wc -l "$corpus"
measure "import, 1 thread" "$iotrail" -q import --force --threads 1 -o "$out/corpus.trail" "$corpus"
PATH=$cache/rivals/bin:$PATH
if command -v strace-parser >/dev/null; then measure "strace-parser summary" strace-parser "$corpus" summary; fi
if command -v strace-analyzer >/dev/null; then measure "strace-analyzer" strace-analyzer "$corpus"; fi
measure "python: regex, pandas" "$python" bench/paper_method.py "$corpus"
measure "dfg with all statistics, 1 thread" "$iotrail" -q dfg --threads 1 --json "$out/corpus.trail"
measure "report" "$iotrail" -q report -o "$out/report.html" "$out/corpus.trail"
"$iotrail" -q events "$out/corpus.trail" --csv -o "$out/events.csv"
measure "pm4py (pandas) graph only" "$python" bench/pm4py_dfg.py "$out/events.csv"
"$target/examples/parse_speed" "$corpus"
column -t -s $'\t' "$results"
"$iotrail" info "$out/corpus.trail" | grep -E '^(events|lines)'
ls -l "$out/report.html" | awk '{ print "report: " $5 " bytes" }'
