#!/usr/bin/env bash
# usage: pictures.sh [IOTRAIL]: takes the pictures of the page in README.md anew (docs/images/report*.png). Needs sqlite3, chromium, and
# pngquant to make them small.
set -euo pipefail
cd "$(dirname "$0")/.."
iotrail=$(realpath "${1:-target/release/iotrail}")
images=$PWD/docs/images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
{
  echo 'CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);'
  for number in $(seq 300); do echo "INSERT INTO item VALUES($number, 'name $number');"; done
} > import.sql
"$iotrail" -q record -o import.trail -- sqlite3 shop.db '.read import.sql'
"$iotrail" -q report import.trail -o import.html

# shot NAME HEIGHT FRAGMENT: a picture of the page at a place.
shot() {
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-prefers-reduced-motion --virtual-time-budget=4000 \
    --window-size="1200,$2" --screenshot="$1" "file://$work/import.html$3" 2> chromium.log || { cat chromium.log >&2; exit 1; }
  if command -v pngquant > /dev/null; then pngquant --force --speed 1 --output "$1" 64 "$1"; fi
  install -m 644 "$1" "$images/$1"
}
shot report.png 790 ''
ls -l "$images"/report*.png
