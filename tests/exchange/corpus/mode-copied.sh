# construct: mode
# changes: in.txt
cp in.txt a; chmod a-w in.txt; cat a >c
