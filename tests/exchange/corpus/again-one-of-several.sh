# construct: made again
# deletes: second
python3 -c 'import os; os.listdir(); [open(name, "w").write(name + open("in.txt").read()) for name in ("first", "second")]'
cp first done
wc -c < done > size
