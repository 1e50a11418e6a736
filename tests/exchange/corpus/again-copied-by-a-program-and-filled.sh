# construct: made again
# below: s/in
# changes: s/in
# A program copies a directory, and a later job adds a file to the copy.
python3 -c 'import shutil; shutil.copytree("s", "o")'
sort o/in > o/z
