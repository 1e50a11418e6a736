# construct: made again
# then: rm keep.txt
# undo: rm keep.txt; echo kept >keep.txt; touch -d @1767225600 keep.txt
sort in.txt >o
sh -c "ln -s body keep.txt 2>/dev/null && rm keep.txt && echo made >p || echo had >p"
