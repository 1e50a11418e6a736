# construct: pipe
yes | head -n 3 > out
