# construct: find
mkdir t; cp in.txt t/a.o; cp body t/b.c; find t -name '*.o' -delete; ls t > l; cat t/b.c > c
