# construct: times
# below: d/f
touch -d 2001-01-01 d
cp -a d e
stat -c %Y e > o1
touch -d 2002-01-01 d
stat -c %Y d > o2
