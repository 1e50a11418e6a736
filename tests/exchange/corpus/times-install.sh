# construct: times
sort in.txt > a; sleep 0.05; sort body > b; install -p a i; find b -newer i > x; find i -newer b > y
