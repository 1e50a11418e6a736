# construct: made again
# below: d/1 d/e/2
cp -a d st
cat body >>st/1
rm -r d
mv st d
