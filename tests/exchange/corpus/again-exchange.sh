# construct: again
# needs: python3
# changes: in.txt
cp in.txt a
cp body b
python3 exchange.py a b
cat a >o1
cat b >o2
