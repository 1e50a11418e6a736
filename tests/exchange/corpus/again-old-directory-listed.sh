# construct: made again
# below: d/f
ls d > l
mv d e
