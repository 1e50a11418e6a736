# construct: links
# below: d/f e/f
# symbolic: d l
# What goes through a link of before, which is moved to and fro.
cp in.txt l/new
mv l e/
cp header e/l/new2
mv e/l k
cp header k/new3
