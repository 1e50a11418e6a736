# construct: made again
# precious: site/mine
mkdir new
sort in.txt >new/index
rm -rf site
mv new site
wc -l <site/index >n
