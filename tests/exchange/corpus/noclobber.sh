# construct: redirect
set -C; sort in.txt > a; set +C; sort body > a2; cat a a2 > b
