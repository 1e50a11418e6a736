# construct: opened early
cp in.txt a; exec 3>a; wc -c <a >n; sort in.txt >&3; exec 3>&-; cat a n >c
