# construct: made again
# changes: in.txt
sh -c "mkdir pk; mv pk pk1; mkdir pk; cp in.txt pk/v"
cp body pk/w
