# construct: names
sort in.txt > '-n'
wc -l < '-n' > n
cp ./'-n' copy-'-n'
cat < copy-'-n' > last
