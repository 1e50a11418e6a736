# construct: made again
rm -rf parts; mkdir parts
split -l 2 in.txt parts/p.
ls parts > names
