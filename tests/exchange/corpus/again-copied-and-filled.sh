# construct: made again
# below: s/in
# changes: s/in
# A directory is copied, and a later job adds a file to the copy.
cp -r s o
sort o/in > o/z
