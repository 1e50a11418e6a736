# construct: background
sort in.txt | uniq > a & sort body > b; wait; cat a b > c
