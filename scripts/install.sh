#!/usr/bin/env bash
# usage: install.sh PREFIX: binary, the library that MPI programs load, man pages and completions
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${1:?usage: install.sh PREFIX}
iotrail=${CARGO_TARGET_DIR:-target}/release/iotrail
install -D "$iotrail" "$prefix/bin/iotrail"
install -D -m 644 "$(dirname "$iotrail")/libiotrail_mpi.so" "$prefix/lib/iotrail/libiotrail_mpi.so"
# `make sql` has built it, or not: it is not part of the default.
[ ! -x "$iotrail-sql" ] || install -D "$iotrail-sql" "$prefix/bin/iotrail-sql"
"$iotrail" man -o "$prefix/share/man/man1"
completion() {
  mkdir -p "$(dirname "$prefix/share/$2")"
  "$iotrail" completions "$1" > "$prefix/share/$2"
}
completion bash bash-completion/completions/iotrail
completion zsh zsh/site-functions/_iotrail
completion fish fish/vendor_completions.d/iotrail.fish
echo "installed below $prefix"
