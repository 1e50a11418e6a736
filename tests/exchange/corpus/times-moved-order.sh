# construct: times
# whole: no
sort in.txt > t; sleep 0.1; sort body > b; mv t a; find b -newer a > newer; find a -newer b > older
