# construct: made again
# A program makes directories, and a later job that reads nothing of it adds a file.
python3 -c 'import os; os.makedirs("o/p"); open("o/p/a", "w").write(open("in.txt").read())'
sort body > o/p/b
