# construct: made again
# changes: in.txt
# A program makes a directory and a file beside it; a later job that needs nothing of it fills the directory.
python3 -c 'import os; os.mkdir("o"); open("x", "w").write(open("in.txt").read())'
sort body > o/b
cp o/b last
