# construct: long line
seq 4500 > big
mkdir parts
split -a 4 -l 1 big parts/a-name-that-is-not-short-
cat parts/a-name-that-is-not-short-* > all
rm -r parts
