# construct: made again
# changes: in.txt
mkdir -p out
sh -c "sort in.txt >out/a; mv out out.old; mkdir -p out; sort -r in.txt >out/a"
wc -l <out/a >out/n
