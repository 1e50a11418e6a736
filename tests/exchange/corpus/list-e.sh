# construct: list
set -e; sort in.txt > a; cp a b; rm a
