# construct: list
cmp -s in.txt body; r=$?; cp in.txt r.$r; diff in.txt body > d.txt || cp d.txt e.txt
