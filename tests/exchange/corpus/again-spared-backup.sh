# construct: made again
cp header header.orig
cat body >>header
diff header.orig header >changes || :
