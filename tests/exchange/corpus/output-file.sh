# construct: output
# output: log.txt
sort in.txt; cat header; sort body > out
