# construct: background
for i in 1 2 3 4; do sort in.txt > s$i & done; wait; cat s1 s2 s3 s4 > all
