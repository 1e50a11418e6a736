# construct: make
make -s -j3 -f Makefile.c all
