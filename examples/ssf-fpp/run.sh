#!/usr/bin/env bash
# Single shared file versus file per process (Sankaran et al., section V-A, in small): RANKS processes write one shared
# file, then as many files of their own, each traced by strace into a file of its own, ssf_HOST_RANK.st and fpp_HOST_RANK.st.
#
# usage: run.sh TRACES [RANKS] [BLOCK_BYTES] [BLOCKS] [SEGMENTS]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
traces=${1:?usage: run.sh TRACES [RANKS] [BLOCK_BYTES] [BLOCKS] [SEGMENTS]}
ranks=${2:-8} block=${3:-262144} blocks=${4:-16} segments=${5:-3}
command -v strace >/dev/null || { echo "run.sh: strace is not installed" >&2; exit 1; }
mkdir -p "$traces"
traces=$(cd "$traces" && pwd)
scratch=$(mktemp -d "${SCRATCH:-${TMPDIR:-/tmp}}/ssf-fpp.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/ssf" "$scratch/fpp"
cc -O2 -o "$scratch/writer" "$here/writer.c"
cd "$scratch"
host=$(hostname -s)
for mode in ssf fpp; do
  sync -f "$scratch" # what was written before must not be waited for now
  pids=()
  for ((rank = 0; rank < ranks; rank++)); do
    strace -f -ttt -T -y -s 4096 -e trace=read,write,openat,lseek,fsync,close,pread64,pwrite64 \
      -o "$traces/${mode}_${host}_${rank}.st" \
      ./writer "$mode" "$rank" "$ranks" "$scratch" "$block" "$blocks" "$segments" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid"; done
done
printf 'preset = "dir2"\n\n[variables]\nSCRATCH = "%s"\n' "$scratch" > "$traces/scratch.toml"
sed "s|^SCRATCH = .*|SCRATCH = \"$scratch\"|" "$here/same-file.toml" > "$traces/same-file.toml"
echo "$traces: $ranks ranks each; \$SCRATCH was $scratch (see $traces/scratch.toml)"
