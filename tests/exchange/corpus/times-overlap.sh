# construct: times
sh -c 'sort in.txt > a; sleep 0.2; sort in.txt > c' & sleep 0.1; sort body > b; wait; find a b c -newer b > l; find a b c -newer a > m
