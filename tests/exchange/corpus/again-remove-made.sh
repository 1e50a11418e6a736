# construct: made again
# precious: tmp/mine
mkdir -p tmp
split -l 1 in.txt tmp/part.
sort body >tmp/b
cat tmp/* >c
rm -rf tmp
