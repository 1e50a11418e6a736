# construct: made again
# changes: body
# becomes: h
cp in.txt a
awk '/h/{print >>"a"} {print}' body >s
cat a >x
