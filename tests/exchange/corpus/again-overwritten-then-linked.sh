# construct: made again
# changes: header
sort in.txt >t; sort header >t; cat t >o; ln -sf body t
