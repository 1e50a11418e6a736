# construct: made again
# below: copies/in.txt
# deletes: both
# trials: unchanged
mkdir -p seen && cat body >seen/b
sh -c 'mkdir n; cp header n/in.txt; mv copies copies.old; mv n copies'
cat copies/in.txt seen/b >both
