#!/usr/bin/env bash
# usage: dist.sh [yes|no]: dist/iotrail-VERSION-ARCH-linux.tar.gz and its checksum: binary (static unless `no`), the library
# that MPI programs load, man pages, completions, licences. PROFILE names the profile (default dist).
set -euo pipefail
cd "$(dirname "$0")/.."
static=${1:-yes} profile=${PROFILE:-dist}
host=$(rustc -vV | sed -n 's/^host: //p')
# What other programs load is linked as they are.
cargo build --profile "$profile" --locked --target "$host" -p iotrail-mpi
# With a target named, build scripts and macros are built without these flags.
[ "$static" = no ] || export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
cargo build --profile "$profile" --locked --target "$host" --features iotrail/sqlite --bin iotrail
directory=$profile
[ "$profile" != dev ] || directory=debug
iotrail=${CARGO_TARGET_DIR:-target}/$host/$directory/iotrail
if [ "$static" != no ] && ldd "$iotrail" 2>/dev/null | grep -q '=>'; then
  echo "$iotrail is not linked statically" >&2
  exit 1
fi
library=$(dirname "$iotrail")/libiotrail_mpi.so
version=$("$iotrail" --version | cut -d' ' -f2)
name=iotrail-$version-${host%%-*}-linux
root=dist/$name
rm -rf "$root"
mkdir -p "$root/completions"
install "$iotrail" "$root/iotrail"
install -m 644 "$library" "$root/libiotrail_mpi.so"
"$root/iotrail" man -o "$root/man/man1"
for shell in bash zsh fish; do "$root/iotrail" completions "$shell" > "$root/completions/iotrail.$shell"; done
cp LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md "$root"
# The same files give the same archive.
epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C dist -cf - "$name" | gzip -9n > "dist/$name.tar.gz"
(cd dist && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
rm -rf "$root"
ls -l "dist/$name.tar.gz"*
