# construct: pipe
grep nothing in.txt | sort > out; grep b in.txt | wc -l > n
