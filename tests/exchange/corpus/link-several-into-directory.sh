# construct: link
# changes: in.txt
mkdir farm
ln -s ../in.txt ../body farm/
sort farm/in.txt farm/body >o
