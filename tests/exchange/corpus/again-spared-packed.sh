# construct: made again
gzip -n header
gzip -dc header.gz >o
