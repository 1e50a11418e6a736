# construct: links
# below: v1/f v2/f
# A link to a directory that is only looked at is gone at the end.
ln -s v2 cur
sh -c 'if test -d cur; then cat v1/f; else cat header; fi' > l
rm cur
