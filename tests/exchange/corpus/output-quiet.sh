# construct: output
# output: log.txt
# whole: no
sort in.txt > out; cat out > again
