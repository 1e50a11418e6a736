# construct: again
# needs: make
# changes: in.txt
make -s -f Makefile.s
sort out > final
cat final > last
