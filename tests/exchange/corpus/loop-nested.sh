# construct: loop
for a in 1 2; do for b in 3 4; do head -n $a in.txt > x$a$b; done; done
