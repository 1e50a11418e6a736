#!/usr/bin/env bash
# Build iotrail and run its main job on real traces: eight ranks writing one shared file against eight ranks writing a file
# each (examples/ssf-fpp, recorded with strace). Needs nothing but Rust and a C compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "Building iotrail (a few minutes the first time)..."
cargo build --release --locked --quiet
iotrail=${CARGO_TARGET_DIR:-target}/release/iotrail
out=out/demo
mkdir -p "$out"
run() {
  printf '\n$ iotrail %s\n' "$*"
  "$iotrail" "$@"
}
run import --force -o "$out/ior.trail" examples/ssf-fpp/traces
run info "$out/ior.trail"
run dfg "$out/ior.trail" --map examples/ssf-fpp/scratch.toml --by cid -o "$out/dfg.svg"
run compare "$out/ior.trail" --map examples/ssf-fpp/same-file.toml --by cid --groups fpp,ssf --top 10
run report "$out/ior.trail" --map examples/ssf-fpp/scratch.toml --by cid -o "$out/report.html"
printf '\nThe picture: %s\nThe page:    %s (open it in a browser; it needs no network)\n' "$PWD/$out/dfg.svg" "$PWD/$out/report.html"
