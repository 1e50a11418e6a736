# construct: shared
{ head -c 3 > a; cat > b; } < in.txt
