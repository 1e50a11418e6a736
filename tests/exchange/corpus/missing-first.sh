# construct: missing
cat late > out 2> err; sort in.txt > late; cat late > again
