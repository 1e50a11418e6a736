# construct: made again
# deletes: second
# One of several files of a job is deleted, which another job does not read.
python3 -c 'import os; os.listdir(); [open(name, "w").write(name + open("in.txt").read()) for name in ("first", "second")]'
cp first done
wc -c < done > size
