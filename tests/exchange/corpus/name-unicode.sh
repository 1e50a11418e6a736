# construct: names
sort in.txt > 'é→'
wc -l < 'é→' > n
cp ./'é→' copy-'é→'
cat < copy-'é→' > last
