# construct: remove
mkdir d; cp in.txt d/f; cat d/f > out; rm -r d; mkdir d; cp body d/g
