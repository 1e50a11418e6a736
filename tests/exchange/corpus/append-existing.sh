# construct: append
cat body >> keep.txt; wc -l keep.txt > n
