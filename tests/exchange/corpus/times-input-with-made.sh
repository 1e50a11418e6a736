# construct: times
cp in.txt x
cp -u body x
cat x >y
