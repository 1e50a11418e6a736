# construct: made again
ln header q
cat in.txt >>q
