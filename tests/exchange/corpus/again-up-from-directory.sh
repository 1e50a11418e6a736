# construct: made again
mkdir -p m/s
sh -c 'if [ -f m/s/../../in.txt ]; then sort in.txt > n; else cp body n; fi'
cp in.txt m/../copy
rm -r m
