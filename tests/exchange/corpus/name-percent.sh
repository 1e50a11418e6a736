# construct: names
sort in.txt > '%d'
wc -l < '%d' > n
cp ./'%d' copy-'%d'
cat < copy-'%d' > last
