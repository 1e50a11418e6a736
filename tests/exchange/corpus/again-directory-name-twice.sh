# construct: made again
# changes: in.txt
mkdir -p x/y
cp in.txt x/y/v
mv x z
mv z/y x
ls x >o
