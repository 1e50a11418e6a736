# construct: wrapper
# needs: flock
flock lk sort in.txt > a & flock lk sort body > b & wait; flock lk cat a b > c
