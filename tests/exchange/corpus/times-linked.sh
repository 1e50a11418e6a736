# construct: times
# whole: no
sort in.txt > a; ln in.txt b; cat b > c; ln a d; find c -newer in.txt > l; find in.txt -newer c > m
