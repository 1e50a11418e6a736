#!/usr/bin/env bash
# The example of the paper (Sankaran et al., figures 1 to 4), recorded anew: `ls` and `ls -l`, three processes each, read and
# write only, each process in a trace file of its own: a_HOST_RID.st is `ls`, b_HOST_RID.st is `ls -l`. usage: run.sh TRACES
set -euo pipefail
traces=${1:?usage: run.sh TRACES}
command -v strace >/dev/null || { echo "run.sh: strace is not installed" >&2; exit 1; }
mkdir -p "$traces"
traces=$(cd "$traces" && pwd)
host=$(hostname -s)
cd /usr/share
for rid in 1 2 3; do
  strace -f -tt -T -y -e trace=read,write -o "$traces/a_${host}_$rid.st" ls >/dev/null &
done
wait
for rid in 1 2 3; do
  strace -f -tt -T -y -e trace=read,write -o "$traces/b_${host}_$rid.st" ls -l >/dev/null &
done
wait
