# construct: made again
# precious: work/mine
sh -c 'mkdir -p work/sub; sort in.txt >work/sub/a; cp work/sub/a out; rm -rf work'
wc -l <out >n
