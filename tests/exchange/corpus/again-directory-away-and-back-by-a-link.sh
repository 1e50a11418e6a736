# construct: made again
# below: d/1 e/1
# deletes: o
# trials: unchanged
mv d t
ln -s t d
cat d/1 >o
rm d
mv t d
mv e u; sleep 0
mv u e
cat e/1 >p
