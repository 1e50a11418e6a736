# construct: links
# below: v2/f
# A link to a directory, which is listed through it by a shell, is gone at the end.
ln -s v2 cur
sh -c 'ls cur/ 2> /dev/null || cat in.txt' > l
rm cur
