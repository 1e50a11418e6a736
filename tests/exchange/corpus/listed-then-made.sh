# construct: directories that are listed before files are made in them
# whole: no
find . -name '*.txt' | sort > files
sort body > made.txt
