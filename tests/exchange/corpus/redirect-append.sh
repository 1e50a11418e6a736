# construct: redirect
cp in.txt log; sort in.txt >> log; wc -l in.txt >> log
