# construct: rename
cp in.txt v; mv v v.1; cp body v; mv v.1 v.2; mv v v.1; cat v.1 v.2 > all; mv all v
