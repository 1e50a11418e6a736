# construct: background
sort in.txt > a & p=$!; sort body > b & q=$!; wait $p && wait $q && cat a b > c
