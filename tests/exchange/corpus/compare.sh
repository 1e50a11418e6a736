# construct: compare
sort in.txt > a; cmp a in.txt > diff1; diff a in.txt > diff2; sort body > b
