# construct: made again
cat in.txt > a
ln a b
sh -c 'gzip -nk a 2> log || :'
ls > list
