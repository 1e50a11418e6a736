# construct: times
mkdir s; sort in.txt > s/a; sleep 0.05; sort body > s/b; sleep 0.05; sort header > s/c; cp -rp s d; find d -type f -newer s/b | sort > x; find s -type f -newer d/a | sort > y
