# construct: list
grep nothing in.txt > a || sort body > b
