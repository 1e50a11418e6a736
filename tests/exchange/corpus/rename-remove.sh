# construct: rename
sort in.txt > a; cp a b; rm a; sort body > a
