# construct: link-hard
# A later job gives the file one more name.
ln in.txt first
stat -c %h in.txt > o1
ln in.txt second
stat -c %h in.txt > o2
