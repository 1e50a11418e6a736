# construct: links
# below: d/f e/f
# symbolic: d/f l
# What goes through a link of before to a file, which is moved and comes back.
cp in.txt l
mv l k
cp header k
mv k l
