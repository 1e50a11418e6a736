# construct: background
(sort in.txt > a; cp a b) & (sort body > c; cp c d) & wait; cat b d > e
