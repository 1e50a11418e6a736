# construct: times
sort in.txt > a; sleep 0.05; sort body > b; touch -r a c; find b -newer c > x; touch -r c b; find b -newer a > y; find a -newer b > z
