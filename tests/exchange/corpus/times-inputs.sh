# construct: times
cp -p in.txt a; sleep 0.05; cp -p body b; find a -newer b > x; find b -newer a > y
