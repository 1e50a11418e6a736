# construct: ulimit
ulimit -c 0; sort in.txt > out
