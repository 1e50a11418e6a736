#!/usr/bin/env bash
# Installs the programs that iotrail is compared with into .cache/rivals: from crates.io and PyPI. One that cannot be
# installed is left out of the comparison, and that is said. strace-parser is in no registry: it is measured if it is on the PATH.
set -uo pipefail
. "$(dirname "$0")/../scripts/tools.sh"
rivals=$cache/rivals
[ -x "$rivals/bin/python" ] || python3 -m venv "$rivals"
"$rivals/bin/pip" install -q pandas==3.1.1 pm4py==2.7.23.11 || echo "left out: pm4py, pandas"
for crate in strace-analyzer@0.5.6; do
  name=${crate%@*}
  [ -x "$rivals/bin/$name" ] && continue
  cargo install --quiet --locked --root "$rivals" "$crate" >"$cache/$name.log" 2>&1 || echo "left out: $crate ($(tail -n 1 "$cache/$name.log"))"
done
exit 0
