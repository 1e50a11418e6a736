# construct: umask
# whole: no
umask 077; sort in.txt > a; cp a b; umask 027; mkdir d; sort a | uniq > d/c; umask 022; cat d/c > e
