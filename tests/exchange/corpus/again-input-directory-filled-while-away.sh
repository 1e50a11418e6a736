# construct: made again
# below: src/x
# changes: src/x
mv src w
cp body w/n
mv w src
sort src/x >o
