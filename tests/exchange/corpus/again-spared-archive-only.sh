# construct: made again
# below: d/1 d/e/2
tar --sort=name --mtime=@0 -cf d.tar d && rm -r d
tar -tf d.tar >list
