# construct: made again
# A program makes a directory and a file in it, and a later job adds another one.
python3 -c 'import os; os.mkdir("o"); open("o/a", "w").write(open("in.txt").read())'
sort o/a > o/b
