# construct: made again
ln header kept
rm header
wc -l <kept >o
