# construct: fifo
mkfifo p; sort in.txt > p & cat p > out; wait; rm p
