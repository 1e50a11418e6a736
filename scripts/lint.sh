#!/usr/bin/env bash
# Format (Rust, JavaScript), lints, licences and sources of all dependencies.
set -euo pipefail
. "$(dirname "$0")/tools.sh"
cd "$root"
cargo fmt --all --check
npm --prefix tests/browser ci --silent --no-audit --no-fund
npm --prefix tests/browser run --silent check-format
# Apart, as they are built: the query engine is not checked twice with different features, and where all is checked `test.sh sql` does it.
cargo clippy --workspace --exclude iotrail-sql --features iotrail/sqlite --all-targets --locked -- -D warnings
[ -n "${CI:-}" ] || cargo clippy -p iotrail-sql --all-targets --locked -- -D warnings
if cargo tree --locked -p iotrail -e normal,build | grep -F arrow-; then
  echo "the default build compiles Arrow, which only the query engine needs" >&2
  exit 1
fi
cargo_tool cargo-deny 0.20.2
cargo deny --log-level error check licenses bans sources
# The advisory data base lives on GitHub; without a way there, say so and go on.
if timeout 60 cargo deny --log-level error check advisories 2>"$cache/advisories.log"; then
  echo "advisories: checked"
elif grep -qiE 'failed to fetch|unable to fetch|resolve host|network|connect' "$cache/advisories.log"; then
  echo "advisories: NOT checked, the advisory data base cannot be reached from here"
else
  cat "$cache/advisories.log" >&2
  exit 1
fi
