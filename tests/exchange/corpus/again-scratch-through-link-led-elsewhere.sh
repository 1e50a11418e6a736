# construct: made again
# changes: in.txt
# deletes: o
mkdir s
cp in.txt s
cp body s
ln -s s cur
find -L cur -type f | sort | xargs cat >o
ln -sfn body cur
rm -r s
