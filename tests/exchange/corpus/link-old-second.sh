# construct: links
# symbolic: in.txt l
# A link of before gets a second name, and loses its first.
ln l m
rm l
sh -c 'cat m 2>/dev/null; cat header' > o
