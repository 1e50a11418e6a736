# construct: mode
# changes: in.txt
cp in.txt a; chmod a-w in.txt body; cp in.txt b; cat body >c
