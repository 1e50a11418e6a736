# construct: made again
# whole: no
# symbolic: . here
cat here/in.txt here/g >out 2>/dev/null || true
cp in.txt g
cat here/g >again
