# construct: subshell
umask 077; (sort in.txt; cat body) > a; umask 022; { rev a; } > b; cat b > c
