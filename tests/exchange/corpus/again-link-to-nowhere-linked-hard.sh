# construct: made again
# refuses: no
# whole: no
# symbolic: nowhere l
# changes: in.txt
ln -P l l2
sort in.txt >o
