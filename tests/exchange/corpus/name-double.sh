# construct: names
sort in.txt > 'say "x"'
wc -l < 'say "x"' > n
cp ./'say "x"' copy-'say "x"'
cat < copy-'say "x"' > last
