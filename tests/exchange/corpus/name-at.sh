# construct: names
sort in.txt > '@x'
wc -l < '@x' > n
cp ./'@x' copy-'@x'
cat < copy-'@x' > last
