# construct: long line
mkdir made
(cd made; seq 4000 | sed 's/^/a-name-that-is-not-short-either-/' | xargs touch)
sort in.txt > out
