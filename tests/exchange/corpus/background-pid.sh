# construct: background
sort in.txt > a & p=$!; wait $p; cp a b
