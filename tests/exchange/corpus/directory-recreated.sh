# construct: directory
mkdir d; cp in.txt d/x; cat d/x > a; rm -r d; mkdir d; cp body d/y; cat d/y > b; ls d > l
