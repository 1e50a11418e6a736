# construct: names
sort in.txt > '#no'
wc -l < '#no' > n
cp ./'#no' copy-'#no'
cat < copy-'#no' > last
