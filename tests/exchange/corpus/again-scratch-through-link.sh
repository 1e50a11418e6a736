# construct: made again
# changes: in.txt
# deletes: o
mkdir s
cp in.txt s/V
ln -s s cur
cat cur/V >o
rm cur
rm -r s
