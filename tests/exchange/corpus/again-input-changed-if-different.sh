# construct: made again
# below: old
# changes: in.txt
sh -c "cmp -s in.txt old || cp in.txt old"
cat old >o
