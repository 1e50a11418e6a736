# construct: made again
# below: d/f
cat d/f > o
mv d t
mv t e
