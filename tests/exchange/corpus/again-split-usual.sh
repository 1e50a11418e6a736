# construct: made again
mkdir parts
split -l 1 in.txt parts/i.
split -l 1 body parts/b.
sort header > parts/header
ls parts > names
