# construct: made again
# below: d/f
touch -d 2001-02-03 d
stat -c %Y d > early
touch -d 2004-05-06 d
stat -c %Y d > late
sort d/f > g
