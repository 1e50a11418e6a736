# construct: made again
# then: rm keep.txt; mkdir keep.txt; cp body keep.txt
# undo: rm -r keep.txt; echo kept >keep.txt; touch -d @1767225600 keep.txt
sort in.txt >o
sh -c "(cd keep.txt 2>/dev/null && sort body >../p) || cp header p"
