# construct: builtin
umask 077; sort in.txt > a; cp a b
