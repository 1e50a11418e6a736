# construct: made again
# changes: in.txt
mkdir -p t/q
cp in.txt t/q/f
mv t T
mv T/q q
ls q >o
