# construct: background
sleep 30 & p=$!; sort in.txt > a; kill $p; wait; cp a b
