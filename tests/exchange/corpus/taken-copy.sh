# construct: taken
# taken: out linked log made/f
cp -n in.txt out
ln body linked
sort body >> log
mkdir made
cp header made/f
sort in.txt > plain
