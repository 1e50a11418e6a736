# construct: pipe
cat in.txt | tr a-z A-Z | sort | uniq | head -n 2 > out
