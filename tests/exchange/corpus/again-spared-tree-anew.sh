# construct: made again
# below: d/1 d/e/2
cp -a d d.new
cat header >d.new/1
mv d d.prev
mv d.new d
ls d >ls
rm -r d.prev
