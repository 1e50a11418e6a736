# construct: overwrite
sort in.txt > a; cp a first; sort body > a; cp a second
