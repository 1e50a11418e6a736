# construct: again
# needs: python3
# changes: in.txt
mkdir cur next
cp in.txt cur/f
cp header cur/g
cp body next/f
python3 exchange.py cur next
cat cur/f next/f next/g >o
