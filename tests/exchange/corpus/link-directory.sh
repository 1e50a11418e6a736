# construct: link
mkdir real; ln -s real d; cp in.txt d/f; cat real/f > out
