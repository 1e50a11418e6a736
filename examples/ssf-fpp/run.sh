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
scratch=$(mktemp -d "${SCRATCH:-${TMPDIR:-/tmp}}/ssf-fpp.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/ssf" "$scratch/fpp"
host=$(hostname -s)
python=$(python3 -c 'import sys; print(sys.executable)')  # not a wrapper script, which would be traced too
for mode in ssf fpp; do
  pids=()
  for ((rank = 0; rank < ranks; rank++)); do
    strace -f -tt -T -y -s 0 -e trace=read,write,openat,lseek,fsync,close,pread64,pwrite64 \
      -o "$traces/${mode}_${host}_${rank}.st" \
      "$python" -S -E "$here/writer.py" "$mode" "$rank" "$ranks" "$scratch" "$block" "$blocks" "$segments" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid"; done
done
printf 'variables.SCRATCH = "%s"\npreset = "dir2"\n' "$scratch" > "$traces/scratch.toml"
echo "$traces: $ranks ranks each; \$SCRATCH was $scratch (see $traces/scratch.toml)"
