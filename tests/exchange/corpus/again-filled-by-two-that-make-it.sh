# construct: made again
# changes: in.txt
# Two programs make a directory unless it is there, and each puts a file into it.
python3 -c 'import pathlib; pathlib.Path("o").mkdir(exist_ok=True); open("o/a", "w").write(open("in.txt").read())'
python3 -c 'import pathlib; pathlib.Path("o").mkdir(exist_ok=True); open("o/b", "w").write(open("body").read())'
cat o/a o/b > all
