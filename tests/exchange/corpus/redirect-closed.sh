# construct: redirect
cat in.txt >&- 2> err; sort in.txt > out
