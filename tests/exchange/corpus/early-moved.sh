# construct: opened early
mkdir d; exec 3>d/a; mv d e; sort in.txt >&3; exec 3>&-; cat e/a >c
