# construct: links
# below: x/f
# symbolic: ../in.txt x/l
# A directory with a link of before in it gets another name.
mv x y
sh -c 'cat y/l header 2>/dev/null || :' > o
