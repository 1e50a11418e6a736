# construct: environment
# record: --env GREETING
# whole: no
GREETING=hi sh greet.sh > a; sort in.txt > b; export GREETING=there; sh greet.sh > c; cat a b c > d
