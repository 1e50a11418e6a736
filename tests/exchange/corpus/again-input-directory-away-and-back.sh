# construct: made again
# below: src/x src/y
# changes: src/x
mv src w
sort w/x >o
mv w src
