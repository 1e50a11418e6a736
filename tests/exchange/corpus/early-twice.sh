# construct: opened early
exec 3>a 4>a; sort in.txt >&3; sort body >&4; exec 3>&- 4>&-; cat a >o
