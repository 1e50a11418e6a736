# construct: directory
mkdir d1; cp in.txt d1/x; mv d1 d3; find d3 -name x | sort > f1; cp -r d3 d4; ls d4 > f2
