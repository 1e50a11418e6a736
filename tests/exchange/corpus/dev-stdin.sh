# construct: dev
sort /dev/stdin < in.txt > /dev/stdout 2> e; cat in.txt | sort - > out
