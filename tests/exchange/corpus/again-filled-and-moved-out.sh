# construct: made again
# changes: in.txt
# To a file in a directory that a program makes another job appends, and it is moved away; then another one gets its name.
python3 -c 'import os; os.mkdir("o"); open("o/a", "w").write(open("in.txt").read())'
sort o/a > o/b
sort body >> o/b
mv o/b out
sort body > o/b
