# construct: taken
# away: made
mkdir made made/deep
sort in.txt > made/a
cp body made/deep/b
cat made/a made/deep/b > out
