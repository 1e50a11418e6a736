# construct: exec
sort in.txt > a; exec cp a b
