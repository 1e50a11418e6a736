#!/usr/bin/env bash
# What recording costs, beside strace, in one run: builds a release, then see record.py for options and output.
# usage: record.sh [--montage DIRECTORY] [--runs N] [WORKLOAD...]
set -euo pipefail
. "$(dirname "$0")/../scripts/tools.sh"
cd "$root"
debian strace=strace gcc=gcc taskset=util-linux tar=tar
cargo build --release --locked --quiet
exec python3 bench/record.py "${CARGO_TARGET_DIR:-$root/target}/release/iotrail" "$@"
