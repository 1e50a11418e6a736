# construct: rename
# changes: in.txt
mkdir a b
cp in.txt b/v
mv -T a b 2>/dev/null
cat b/v >o
