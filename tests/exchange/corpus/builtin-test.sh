# construct: builtin
[ -f in.txt ] && sort in.txt > a; [ -f nope ] || sort body > b
