# construct: wrapper
# needs: flock
flock lock sort in.txt > a; flock lock -c 'cat a body > b'; cp b c
