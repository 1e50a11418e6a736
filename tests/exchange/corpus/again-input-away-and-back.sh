# construct: made again
# changes: in.txt
mv in.txt k
sort k >o
mv k in.txt
