# construct: names
sort in.txt > '$HOME'
wc -l < '$HOME' > n
cp ./'$HOME' copy-'$HOME'
cat < copy-'$HOME' > last
