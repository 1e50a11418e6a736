# construct: made again
# below: d/1 d/e/2
mv d f
cp -a f e
mv f d
