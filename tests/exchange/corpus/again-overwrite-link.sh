# construct: made again
# changes: keep.txt
cat keep.txt > r0
cp header t
mv t keep.txt
ln -s keep.txt l
cp body l
