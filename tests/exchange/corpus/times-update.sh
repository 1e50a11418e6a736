# construct: times
# whole: no
cp in.txt a; touch -d 2001-01-01 a; cp body b; cp -u a b; cp -u header a
