# construct: make
sort in.txt > a; make -s -f Makefile.c all; cat a made1 > out
