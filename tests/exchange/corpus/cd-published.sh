# construct: cd
mkdir out.tmp; cd out.tmp; sort ../in.txt >a; mv ../out.tmp ../out; sort -r a >b; cd ../; cat out/b >o
