# construct: made again
ln header header~
sed s/a/b/ header >t
mv t header
cat header header~ >o
