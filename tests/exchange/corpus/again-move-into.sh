# construct: made again
mkdir new
split -l 1 in.txt new/p.
mv new out
sort -r body > out/sorted
find out -type f | sort > list
