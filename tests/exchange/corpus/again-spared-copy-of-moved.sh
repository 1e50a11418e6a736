# construct: made again
# below: p/1 p/2
mkdir v2
mv p v2/p
cp -a v2 v3
rm -r v2
cat v3/p/* >o
