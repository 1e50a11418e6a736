# construct: shared-input
while read a; do grep -c "$a" in.txt; done < body > out
