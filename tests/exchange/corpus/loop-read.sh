# construct: loop
cat body | while read l; do grep -c "$l" in.txt; done > out
