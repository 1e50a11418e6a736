# construct: made again
# changes: header
# deletes: o
sort in.txt >t; sort header >t; cat t >o; ln -f body t
