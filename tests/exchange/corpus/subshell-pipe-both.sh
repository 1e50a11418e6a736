# construct: subshell-pipe
cat in.txt | (sort; cat header) | uniq > out
