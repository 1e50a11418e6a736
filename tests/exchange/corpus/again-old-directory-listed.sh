# construct: made again
# below: d/f
# trials: unchanged
ls d > l
mv d e
