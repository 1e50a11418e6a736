#!/usr/bin/env bash
# API documentation without warnings; links of the Markdown pages; transcripts and help texts in the docs are current.
set -euo pipefail
. "$(dirname "$0")/tools.sh"
cd "$root"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude iotrail-sql --features iotrail/sqlite --no-deps --locked --quiet
python3 scripts/check_docs.py
