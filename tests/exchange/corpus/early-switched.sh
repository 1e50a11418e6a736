# construct: opened early
mkdir -p d; cp in.txt d/x; cp body y; exec 3<d/x; rm -r d; ln -s . d; sort <&3 >o; cat d/y >p
