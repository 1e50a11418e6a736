# construct: subshell
( (cat header; cat body) | sort; cat in.txt) > out
