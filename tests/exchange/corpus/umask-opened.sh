# construct: umask
umask 077; exec 3> a; umask 022; sort in.txt >&3; sort body >&3; cat a > b
