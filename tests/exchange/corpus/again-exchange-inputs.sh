# construct: again
# needs: python3
# changes: in.txt
python3 exchange.py in.txt body
sort in.txt >o1
sort body >o2
