# construct: pipe
sort in.txt | tee copy | wc -l > n
