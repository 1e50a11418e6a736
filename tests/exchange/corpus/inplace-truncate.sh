# construct: inplace
cp in.txt f; truncate -s 2 f; cat f > g
