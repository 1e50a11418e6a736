#!/usr/bin/env bash
# Records real strace output of a parallel workload (compiles, archives, searches, shells) and repeats it with later times and
# other process ids until it is MEGABYTES large. usage: corpus.sh FILE MEGABYTES [STRACE_OPTION...]  (default -f -tt -T)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
file=${1:?usage: corpus.sh FILE MEGABYTES [STRACE_OPTION...]} megabytes=${2:?} 
shift 2
[ $# -gt 0 ] || set -- -f -tt -T
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/Makefile" <<'MAKE'
parallel: tar1 find1 $(foreach i,1 2,py$(i) c$(i).o)
serial: $(foreach i,3 4 5 6,c$(i).o sh$(i)) $(foreach i,2 3 4,tar$(i) find$(i) py$(i))
tar%:  ; tar czf $@.tgz -C /usr/share/doc $$(ls /usr/share/doc | head -n 12) 2>/dev/null
find%: ; find /usr/share/doc -name '*$*.gz' > $@.txt 2>/dev/null
c%.o:  ; printf '\043include <stdio.h>\nint f(void){return puts("x");}\n' > c$*.c && gcc -O1 -c c$*.c -o $@
py%:   ; python3 -c 'import json, threading; t=[threading.Thread(target=lambda: [open("/etc/passwd").read() for _ in range(50)]) for _ in range(4)]; [x.start() for x in t]; [x.join() for x in t]'
sh%:   ; for f in /etc/*.conf; do head -c 100 $$f | sort | uniq -c | tail -n 1; done > $@.txt
MAKE
strace "$@" -o "$work/trace" sh -c 'make -s -j 2 -C "$0" parallel; make -s -C "$0" serial' "$work" >/dev/null 2>&1 || true
python3 "$here/repeat_trace.py" "$work/trace" "$megabytes" > "$file"
ls -l "$file"
