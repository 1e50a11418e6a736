# construct: made again
# below: d/f
chmod 700 d
cp -r d e
chmod 755 d
cp -r d g
