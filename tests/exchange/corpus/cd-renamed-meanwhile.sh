# construct: cd
mkdir d; (cd d; sleep 0.4; sort ../in.txt >x; cat x >y) & sleep 0.2; mv d e; wait; cat e/y >o
