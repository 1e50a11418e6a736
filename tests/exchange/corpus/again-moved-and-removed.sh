# construct: made again
# trials: unchanged
mkdir d
cp in.txt body d
mv d e
rm -r e
sort in.txt >o
