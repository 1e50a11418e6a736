# construct: link
# changes: in.txt
mkdir farm
ln -s ../in.txt farm
sort farm/in.txt >o
