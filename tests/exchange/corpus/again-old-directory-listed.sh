# construct: made again
# trials: unchanged
# below: d/f
ls d > l
mv d e
