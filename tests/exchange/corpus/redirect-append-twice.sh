# construct: redirect-append
wc -l in.txt >> log; wc -c in.txt >> log; sort log > sorted
