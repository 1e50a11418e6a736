# construct: link
# deletes: o1
mkdir r1 r2
cp in.txt r1/v
cp body r2/v
ln -s r1 cur
sh -c "sort cur/v >o1; ln -sfn r2 cur"
sort cur/v >o2
