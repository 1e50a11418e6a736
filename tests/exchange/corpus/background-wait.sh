# construct: background
sort in.txt > a & sort body > b & wait; cat a b > c
