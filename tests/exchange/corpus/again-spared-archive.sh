# construct: made again
# below: d/1 d/e/2
tar --sort=name --mtime=@0 -cf d.tar d
rm -r d
tar -xf d.tar
cat d/e/2 >o
