# construct: made again
# then: ln -sf body keep.txt
# undo: rm keep.txt; echo kept >keep.txt; touch -d @1767225600 keep.txt
sort in.txt >o
sh -c "readlink keep.txt >p || echo none >p"
