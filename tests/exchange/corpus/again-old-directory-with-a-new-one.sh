# construct: made again
# below: d/1 d/e/2
mkdir d/n
mv d e
ls e >l
rm -r e
