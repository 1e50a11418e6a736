# construct: append-read
cat body >> keep.txt; cp keep.txt first; cat header >> keep.txt; cp keep.txt second
