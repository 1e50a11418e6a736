# construct: make
mkdir sub; cp Makefile.c sub/Makefile; cp in.txt body sub/; make -s -C sub; cat sub/made1 > top
