# construct: made again
# precious: out/mine
rm -rf out
mkdir out
sort in.txt >out/a
wc -l <out/a >n
