# construct: times
# trials: unchanged
cp in.txt x
cp -u body x
cat x >y
