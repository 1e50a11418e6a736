# construct: fifo
mkfifo p q; sort in.txt > p & tr a-z A-Z < p > q & cat q > out; wait; rm p q
