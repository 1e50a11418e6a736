# construct: times
mkdir d; cp in.txt d/; touch -d 2001-01-01 d; sort body > e; find e -newer d > l; find d -maxdepth 0 -newer e > m
