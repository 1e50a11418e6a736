# construct: made again
# below: d/f
cp -r d e
chmod 700 d
sort in.txt > d/new
ls d > t
