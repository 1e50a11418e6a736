# construct: pipe
sort in.txt | uniq -c | gzip -n >out.gz
