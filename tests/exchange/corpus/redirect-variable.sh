# construct: redirect
n=name; sort in.txt > $n.txt; wc -l < $n.txt > $n.n
