# construct: rename
cp in.txt a; cp body b; mv a t; mv b a; mv t b; cat a b > c
