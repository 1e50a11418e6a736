# construct: made again
# symbolic: later dangling
# deletes: o1
cat dangling in.txt > o1 2> /dev/null
cat in.txt o1 > later
sort dangling > o2
