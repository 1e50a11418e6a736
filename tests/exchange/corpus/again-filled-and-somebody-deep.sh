# construct: made again
# changes: in.txt
# precious: o/p/mine
# A program makes a directory in another one, a later job adds a file, and somebody puts one into the inner one.
python3 -c 'import os; os.makedirs("o/p"); open("o/p/a", "w").write(open("in.txt").read())'
sort o/p/a > o/b
