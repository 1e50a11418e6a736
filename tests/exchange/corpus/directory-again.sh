# construct: directory
mkdir d1; mv d1 d3; mkdir d1; cp in.txt d1/y; ls d3 | wc -l > n; rm -r d1; mkdir d1; ls d1 | wc -l > m
