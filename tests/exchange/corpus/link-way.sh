# construct: link
mkdir -p t sub; cp in.txt t/1; ln -s t L; find L/ | sort > l1; ln -s /usr/bin/tac sub/prog; sub/prog in.txt > o
