# construct: made again
ln -s made link
mkdir made
cp in.txt link/c
