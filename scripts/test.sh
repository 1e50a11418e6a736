#!/usr/bin/env bash
# Tests, one summary; `all` is every one but those of the query engine (sql). usage: test.sh all|rust|interop|redact|influx|record|workflow|sql|browser
set -uo pipefail
. "$(dirname "$0")/tools.sh"
cd "$root"
what=${1:-all}
results=() failed=0

# step NAME COMMAND...: runs it, remembers how it ended and how long it took.
step() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  if "$@"; then
    results+=("passed  $name ($((SECONDS - start)) s)")
  else
    results+=("FAILED  $name ($((SECONDS - start)) s)")
    failed=1
  fi
}

install_tools() {
  debian strace=strace dot=graphviz rsvg-convert=librsvg2-bin xmllint=libxml2-utils xz=xz-utils zstd=zstd
}

target=${CARGO_TARGET_DIR:-$root/target}

# The query engine is heavy and has a step of its own.
everyday=(--workspace --exclude iotrail-sql --features iotrail/sqlite)

# The binary that other programs try, the library beside it that MPI programs load, and what else is named. With the tests' choice of packages and a test, it has the
# tests' features, so that nothing is compiled twice.
build() {
  cargo build "${everyday[@]}" --locked --quiet --lib --bin iotrail --test program "$@"
}

rust_tests() {
  local python
  python=$(python_with tests/interop/requirements.txt) || return 1
  build || return 1
  # Examples are programs that measure; lint compiles them.
  IOTRAIL_PYTHON=$python cargo nextest run "${everyday[@]}" --lib --bins --tests --locked --no-fail-fast --status-level fail \
    --final-status-level fail --hide-progress-bar && cargo test "${everyday[@]}" --locked --doc --quiet
}

sql_tests() {
  # Where all is checked, it is linted as it is built: a check of its own (lint.sh) would compile DataFusion once more.
  local lint=()
  [ -z "${CI:-}" ] || lint=(RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__)
  env "${lint[@]}" cargo nextest run -p iotrail-sql --lib --bins --tests --locked --no-fail-fast --status-level fail \
    --final-status-level fail --hide-progress-bar
}

# The workflow of ParaTrac's paper, recorded, and what others make of it.
workflow_tests() {
  local python
  debian make=make strace=strace mProjectPP=montage mDiffFit=montage-gridtools && python=$(python_with tests/interop/requirements.txt) \
    && build && "$python" "$@"
}

exchange_tests() {
  local python
  debian make=make dot=graphviz xmllint=libxml2-utils snakemake=snakemake mProjectPP=montage mDiffFit=montage-gridtools cc=gcc \
    && python=$(python_with tests/exchange/requirements.txt) && build && "$python" "$@"
}

workflow_steps() {
  local iotrail=$target/debug/iotrail
  step "workflow: Montage's Table 5 against strace" workflow_tests tests/workflow/table5.py "$iotrail"
  step "workflow: Montage's graph against its events" workflow_tests tests/workflow/graph.py "$iotrail"
  step "workflow: where data came from, against the truth" record_tests tests/workflow/lineage.py "$iotrail"
  step "exchange: graph formats" exchange_tests tests/exchange/graphs.py "$iotrail"
  step "exchange: formats of workflow systems" exchange_tests tests/exchange/run.py "$iotrail"
  debian dash=dash busybox=busybox
  step "exchange: small workflows built again" exchange_tests tests/exchange/corpus.py "$iotrail" --sample 16 --walks 1,4
  step "exchange: small workflows run again" exchange_tests tests/exchange/reruns.py "$iotrail" --sample 16
  step "exchange: workflows that are changed and run again" exchange_tests tests/exchange/reruns.py "$iotrail" --only '^again-'
}

import_tests() {
  build && python3 "$@"
}

interop_tests() {
  local python
  python=$(python_with tests/interop/requirements.txt) && build \
    && "$python" tests/interop/run.py "$target/debug/iotrail"
}

redact_tests() {
  local python
  debian make=make && python=$(python_with tests/interop/requirements.txt) && build \
    && "$python" tests/redact/run.py "$target/debug/iotrail"
}

influx_tests() {
  debian influxd=influxdb victoria-metrics=victoria-metrics && build && python3 tests/influx/run.py "$target/debug/iotrail"
}

dashboard_tests() {
  npm --prefix tests/influx ci --silent --no-audit --no-fund && build && python3 tests/influx/types.py "$target/debug/iotrail"
}

influx_steps() {
  step "influx: points, servers that die, queries of dashboards" influx_tests
  step "influx: types of dashboards" dashboard_tests
}

# What a recording must not change, must not lose, and must show as strace does.
record_tests() {
  debian cc=gcc strace=strace make=make git=git sqlite3=sqlite3 && build && python3 "$@"
}

both_mpis() {
  debian mpirun.openmpi=openmpi-bin mpicc.openmpi=libopenmpi-dev mpirun.mpich=mpich mpicc.mpich=libmpich-dev
}

mpi_programs() {
  both_mpis && build && python3 "$@"
}

fio_programs() {
  debian fio=fio && mpi_programs "$@"
}

mpi_tests() {
  both_mpis && debian gfortran=gfortran nm=binutils \
    && build && python3 "$@" "$(python_with tests/mpi/openmpi-5/requirements.txt)" "$(python_with tests/mpi/mpich-5/requirements.txt)"
}

record_steps() {
  local iotrail=$target/debug/iotrail
  step "sums of imported traces are those of their texts" import_tests tests/import/sums.py "$iotrail"
  step "recorded programs behave as unrecorded ones" record_tests tests/faithful/run.py "$iotrail"
  step "recordings compared with strace" record_tests tests/strace/compare.py "$iotrail"
  step "recorded names are those that the kernel resolved" record_tests tests/names/run.py "$iotrail"
  step "files against the truth, recorded and traced" record_tests tests/identity/truth.py "$iotrail"
  step "offsets against the truth, recorded and traced" record_tests tests/offsets/compare.py "$iotrail"
  step "offsets of descriptors that others share" record_tests tests/offsets/shared.py "$iotrail"
  step "descriptors that threads change at once" record_tests tests/offsets/race.py "$iotrail"
  step "recordings that are killed, full disks, limits" record_tests tests/loss/run.py "$iotrail"
  step "what programs hang in, recorded and traced" record_tests tests/hangs/run.py "$iotrail"
  step "MPI: Open MPI and MPICH, one trail of all ranks" tests/mpi/run.sh "$iotrail"
  step "MPI: random calls, made again under both libraries" tests/mpi/replay.sh "$iotrail"
  step "MPI: calls of programs in C and Fortran" mpi_tests tests/mpi/calls.py "$iotrail"
  step "MPI: requests that calls make, start and complete" mpi_programs tests/mpi/requests.py "$iotrail"
  step "MPI: call sites in C and Fortran" mpi_programs tests/mpi/sites.py "$iotrail"
  step "MPI: a rank that the others wait for" mpi_programs tests/mpi/late.py "$iotrail"
  step "MPI: ranks, recorders and jobs that are killed" mpi_programs tests/mpi/kills.py "$iotrail"
  step "MPI: models of programs, generated with more ranks" mpi_programs tests/mpi/workload.py "$iotrail"
  step "MPI: a rank of a clone that dies" mpi_programs tests/mpi/dies.py "$iotrail"
  step "workload: exports run by fio, cc and MPI" fio_programs tests/workload/exports.py "$iotrail"
  step "workload: places that follow no law" record_tests tests/workload/places.py "$iotrail"
  step "workload: jobs that read what others made" record_tests tests/workload/jobs.py "$iotrail"
  step "workload: what clones keep" record_tests tests/workload/kept.py "$iotrail"
  step "workload: generate killed, on full disks, without its directory" import_tests tests/workload/safety.py "$iotrail"
}

browser_tests() {
  debian chromium=chromium && npm --prefix tests/browser ci --silent --no-audit --no-fund \
    && build --example sample_report \
    && IOTRAIL="$target/debug/iotrail" SAMPLE_REPORT="$target/debug/examples/sample_report" \
      npm --prefix tests/browser test --silent
}

command -v cargo-nextest >/dev/null || step "cargo-nextest" cargo_tool cargo-nextest 0.9.143
case $what in browser | sql) ;; *) step "programs that tests call" install_tools ;; esac
case $what in
  rust) step "Rust: unit, property, snapshot, command line" rust_tests ;;
  interop) step "interop: DuckDB, pandas, pm4py, networkx, schemas" interop_tests ;;
  redact) step "redacted trails: no secret, the same figures" redact_tests ;;
  influx) influx_steps ;;
  record) record_steps ;;
  workflow) workflow_steps ;;
  sql) step "SQL: the query engine" sql_tests ;;
  browser) step "browser: the report in Chromium" browser_tests ;;
  all)
    step "Rust: unit, property, snapshot, command line" rust_tests
    step "interop: DuckDB, pandas, pm4py, networkx, schemas" interop_tests
    step "redacted trails: no secret, the same figures" redact_tests
    influx_steps
    record_steps
    workflow_steps
    step "browser: the report in Chromium" browser_tests
    ;;
  *) echo "usage: test.sh all|rust|interop|redact|influx|record|workflow|sql|browser" >&2; exit 2 ;;
esac

echo
echo "summary"
printf '  %s\n' "${results[@]}"
exit "$failed"
