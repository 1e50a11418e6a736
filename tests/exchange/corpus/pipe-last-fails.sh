# construct: pipe-last
sort in.txt | grep nothing > out; sort in.txt > fine
