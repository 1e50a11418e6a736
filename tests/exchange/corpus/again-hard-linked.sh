# construct: made again
# changes: in.txt
sort in.txt >a
ln -f header a
cat a >z
