# construct: made again
# changes: in.txt
# A program removes a directory, if it is there, and makes it anew, and a later job adds a file.
python3 -c 'import os, shutil; shutil.rmtree("o", ignore_errors=True); os.mkdir("o"); open("o/a", "w").write(open("in.txt").read())'
sort o/a > o/b
