# construct: times
# whole: no
mkdir d; cp in.txt d/f; touch -d 2001-01-01 d/f; tar -cf t.tar d; rm -r d; tar -xf t.tar; find in.txt -newer d/f > newer; rm t.tar
