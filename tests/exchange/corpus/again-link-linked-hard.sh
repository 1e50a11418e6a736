# construct: made again
# refuses: no
# whole: no
# below: s/in.txt
# changes: in.txt
# deletes: v
ln -s ../in.txt s/l
cp -a s t
cp -al t u
cat u/l >o
ln -s in.txt l
ln -P l l2
cat l2 >v
