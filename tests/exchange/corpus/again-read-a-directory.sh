# construct: made again
# below: src/x
# then: rm -r src; cp header src
# undo: rm src; mkdir src; cp -p in.txt src/x
sort in.txt >o
sh -c "cat src >p 2>/dev/null || cat body >p"
