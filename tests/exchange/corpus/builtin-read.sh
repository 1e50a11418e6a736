# construct: builtin
read x < header; sort in.txt > "$x.out"
