# construct: made again
# below: src/x
# deletes: p
# then: cp body src/new
# undo: rm src/new
mv src w
ls w >o
mv w src
sort in.txt >p
