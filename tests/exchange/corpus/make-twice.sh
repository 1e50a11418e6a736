# construct: make
make -s -f Makefile.t; make -f Makefile.t > again; cat out > c
