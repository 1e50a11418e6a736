# construct: made again
# symbolic: in.txt clean
# changes: in.txt
cp body kept.bak
sort clean >out
wc -l <out >n
