# construct: made again
# changes: in.txt
# A program makes a directory, a later job that needs nothing of it adds one, and another program a file in that.
python3 -c 'import os; os.mkdir("o"); open("o/a", "w").write(open("in.txt").read())'
mkdir o/p
sort body > o/p/b
