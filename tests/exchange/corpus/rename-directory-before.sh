# construct: rename
# below: d/f d/h d/sub/x
mv d e
sort e/f > o1
sort -r e/h > o2
tr a b < e/sub/x > o3
