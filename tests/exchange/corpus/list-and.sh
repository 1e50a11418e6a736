# construct: list
sort in.txt > a && sort body > b && cat a b > c
