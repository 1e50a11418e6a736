# construct: made again
# refuses: no
# whole: no
# changes: header
# deletes: o
sort in.txt >qo
python3 publish.py
cat o header >p
