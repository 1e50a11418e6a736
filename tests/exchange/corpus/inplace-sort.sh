# construct: inplace
cp in.txt f; sort -o f f; head -n 1 f > first
