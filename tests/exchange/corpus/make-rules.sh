# construct: make
# needs: make
mkdir m; cp tool.sh m; make -s -C m tool; m/tool in.txt > out
