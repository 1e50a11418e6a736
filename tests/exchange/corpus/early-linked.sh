# construct: opened early
exec 3>a; ln a b; rm a; sort in.txt >&3; exec 3>&-; cat b >c
