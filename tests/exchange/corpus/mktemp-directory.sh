# construct: mktemp
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; sort in.txt > "$d/s"; uniq "$d/s" > "$d/u"; cp "$d/u" result
