# construct: append
cat header > log; cat body >> log; cat in.txt >> log
