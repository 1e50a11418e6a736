# construct: names
sort in.txt > 'a;b'
wc -l < 'a;b' > n
cp ./'a;b' copy-'a;b'
cat < copy-'a;b' > last
