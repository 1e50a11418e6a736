# construct: times
# whole: no
sort in.txt > a; sleep 0.1; sort body > b; find b -newer a > newer; find a -newer b > older
