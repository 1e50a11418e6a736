# construct: opened early
exec 3>t 4<t; rm t; sort in.txt >&3; cat <&4 >o; exec 3>&- 4>&-
