# construct: inplace
# needs: perl
# whole: no
cp in.txt p; perl -pi.bak -e 's/a/z/' p; cat p p.bak > q; perl -e 'print "x\n"' > r; cat q r > s
