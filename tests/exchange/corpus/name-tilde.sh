# construct: names
sort in.txt > '~'
wc -l < '~' > n
cp ./'~' copy-'~'
cat < copy-'~' > last
