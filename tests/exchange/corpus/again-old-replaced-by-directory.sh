# construct: made again
mv header header.old
mkdir header
cp body header/1
