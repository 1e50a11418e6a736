# construct: made again
ln header h
rm header
cp h k
rm h
