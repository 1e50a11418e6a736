# construct: rename
cp in.txt a; sh -c "head -n 1; sleep 0.4; cat" < a > o & sleep 0.2; cp body a.new; mv a.new a; wait; cp a p
