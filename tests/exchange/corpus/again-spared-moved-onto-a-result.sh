# construct: made again
sort body >t
mv header t
cat t >o
