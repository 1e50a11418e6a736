# construct: made again
# below: s/d/in s/k
# changes: s/d/in
# Of a directory that was copied a part gets another name.
cp -a s t
mv t/d t/e
