# construct: directories that are swept
sort body >a
find . -type f -empty -delete
cp a b
cat b header >both
