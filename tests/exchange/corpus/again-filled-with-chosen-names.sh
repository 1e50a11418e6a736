# construct: made again
# changes: in.txt
# A later job adds files whose names it chooses to a directory that a program makes, and one lists them.
python3 -c 'import os; os.mkdir("o"); open("o/a", "w").write(open("in.txt").read())'
split -l 1 o/a o/part-
ls o > names
