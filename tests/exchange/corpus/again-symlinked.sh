# construct: made again
# changes: in.txt
sort in.txt >a
ln -sf header a
cat a >z
