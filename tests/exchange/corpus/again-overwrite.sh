# construct: made again
# changes: keep.txt
sort body > first
cat keep.txt > r0
sort body > keep.txt
