# construct: list
set -e
grep -q zzz in.txt || cp body fallback
if ! cmp -s header body; then sort body > changed; fi
cat fallback changed > all
