# construct: made again
# below: d/1 d/e/2
ln -sf ../body d/z
mv d e
rm -r e
