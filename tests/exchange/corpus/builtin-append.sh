# construct: builtin
sort in.txt > log; echo done >> log; cp log copy
