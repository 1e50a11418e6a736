# construct: builtin
: > log; sort in.txt >> log; wc -l log > n
