# construct: made again
mv header header.old
mkdir t
cp body t/1
mv t header
