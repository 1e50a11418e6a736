# construct: names
sort in.txt > 'back\slash'
wc -l < 'back\slash' > n
cp ./'back\slash' copy-'back\slash'
cat < copy-'back\slash' > last
