# construct: times
# whole: no
# old: a c
sort in.txt > a; cp -p a b; cat a b > c
