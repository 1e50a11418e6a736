# construct: links
# below: d/f e/f
# symbolic: d l
# What goes through a link of before, which is moved.
cp in.txt l/new
mv l k
cp header k/new3
