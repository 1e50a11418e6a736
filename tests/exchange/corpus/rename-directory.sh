# construct: rename
mkdir d; sort in.txt > d/x; cp body d/y; mv d e; cat e/x e/y > all
