# construct: times
# shells: dash bash
sort in.txt > a; sort -r in.txt > b; diff -u a b > d; sort a b > all
