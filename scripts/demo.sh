#!/usr/bin/env bash
# Build iotrail and run its main job: record a real program and show what it did to its files; then compare two parallel
# runs, eight ranks writing one shared file against eight ranks writing a file each (examples/ssf-fpp). Needs nothing but
# Rust and a C compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
cat <<'PLAN'
What comes now, with results below out/demo:
  0. build iotrail          3 to 8 minutes on two cores the first time, seconds after that
  1. record tar, show what it did to its files         seconds
  2. compare two parallel runs of eight ranks          seconds
  3. record a parallel make, show it as a workflow     seconds
PLAN
cargo build --release --locked
iotrail=${CARGO_TARGET_DIR:-target}/release/iotrail
out=out/demo
mkdir -p "$out"
run() {
  printf '\n$ iotrail %s\n' "$*"
  "$iotrail" "$@"
}

printf '\n# 1. Record a program: tar packs the sources of iotrail.\n'
run record --force -o "$out/tar.trail" --report -- tar czf "$out/sources.tgz" crates docs
run processes "$out/tar.trail"
run dfg "$out/tar.trail"

printf '\n# 2. Compare two parallel runs: one shared file against a file per rank.\n'
run import --force -o "$out/ior.trail" examples/ssf-fpp/traces
run dfg "$out/ior.trail" --map examples/ssf-fpp/scratch.toml --by cid -o "$out/ior.svg"
run compare "$out/ior.trail" --map examples/ssf-fpp/same-file.toml --by cid --groups fpp,ssf --top 10
run report "$out/ior.trail" --map examples/ssf-fpp/scratch.toml --by cid -o "$out/ior.html"

printf '\n# 3. A workflow: a parallel make of a small C program, its phases, its critical path, and a Makefile made of what was seen.\n'
rm -rf "$out/program" && cp -r examples/parallel-make "$out/program"
run record --force -o "$out/make.trail" --report -- make -s -j2 -C "$out/program"
run stats "$out/make.trail" --table phases
run tree "$out/make.trail"
run workflow "$out/make.trail"
run workflow "$out/make.trail" -o "$out/make.svg"
run workflow "$out/make.trail" --format makefile -o "$out/make.mk"

printf '\nOpen in a browser (no network needed):\n  what tar did:    %s\n  the comparison:  %s\n  the workflow:    %s\nPictures:          %s\n                   %s\n' \
  "$PWD/$out/tar.html" "$PWD/$out/ior.html" "$PWD/$out/make.html" "$PWD/$out/ior.svg" "$PWD/$out/make.svg"
