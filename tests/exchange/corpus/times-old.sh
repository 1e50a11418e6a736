# construct: times
# whole: no
# old: a b c
sort in.txt > a; cp -p a b; cat a b > c
