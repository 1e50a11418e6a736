# construct: loop
for f in body header; do cat $f; done > out
