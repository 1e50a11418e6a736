# construct: times
(sleep 0.1; sort in.txt > a) & sort body > b; wait; find a -newer b > l; find b -newer a > m
