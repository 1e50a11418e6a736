# construct: made again
# changes: in.txt
mkdir -p x/y d
cp in.txt x/y/v
sh -c "mv x d; mv d/x/y e"
ls -R d e >o
