# construct: pipe
sort in.txt | uniq -c > out
