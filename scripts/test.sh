#!/usr/bin/env bash
# Every test, one summary. usage: test.sh all|rust|interop|browser
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

rust_tests() {
  local python
  python=$(python_with tests/interop/requirements.txt) || return 1
  IOTRAIL_PYTHON=$python cargo nextest run --workspace --locked --no-fail-fast --status-level fail --final-status-level fail \
    --hide-progress-bar && cargo test --workspace --locked --doc --quiet
}

interop_tests() {
  local python
  python=$(python_with tests/interop/requirements.txt) && cargo build --locked --quiet \
    && "$python" tests/interop/run.py "$target/debug/iotrail"
}

browser_tests() {
  debian chromium=chromium && npm --prefix tests/browser ci --silent --no-audit --no-fund \
    && cargo build --locked --quiet && cargo build --locked --quiet -p iotrail-report --example sample_report \
    && IOTRAIL="$target/debug/iotrail" SAMPLE_REPORT="$target/debug/examples/sample_report" \
      npm --prefix tests/browser test --silent
}

command -v cargo-nextest >/dev/null || step "cargo-nextest" cargo_tool cargo-nextest 0.9.143
[ "$what" = browser ] || step "programs that tests call" install_tools
case $what in
  rust) step "Rust: unit, property, snapshot, command line" rust_tests ;;
  interop) step "interop: DuckDB, pandas, pm4py, networkx, schemas" interop_tests ;;
  browser) step "browser: the report in Chromium" browser_tests ;;
  all)
    step "Rust: unit, property, snapshot, command line" rust_tests
    step "interop: DuckDB, pandas, pm4py, networkx, schemas" interop_tests
    step "browser: the report in Chromium" browser_tests
    ;;
  *) echo "usage: test.sh all|rust|interop|browser" >&2; exit 2 ;;
esac

echo
echo "summary"
printf '  %s\n' "${results[@]}"
exit "$failed"
