# construct: link
mkdir v1; cp in.txt v1/f; ln -s v1 current; cat current/f > a; mkdir v2; cp body v2/f; ln -sfn v2 current; cat current/f > b
