# construct: make
make -s -f Makefile.s
