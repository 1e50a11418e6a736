# construct: subshell-pipe
cat in.txt | (sort > a; cat header > b)
