# construct: overwrite
# What was there before gets another name.
cp -b keep.txt body
mv in.txt input.old
sort input.old > out
sort body > out2
