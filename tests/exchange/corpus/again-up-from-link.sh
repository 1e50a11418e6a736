# construct: made again
mkdir -p a/rel b/rel
sort in.txt > a/shared
sort -r in.txt > b/shared
ln -s a/rel current
cat current/../shared > seen1
ln -sfn b/rel current
cat current/../shared > seen2
