# construct: background
cat & sort in.txt > a; wait
